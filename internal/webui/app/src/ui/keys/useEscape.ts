import { useEffectEvent, useLayoutEffect } from 'react';
import { composing } from '../form/composing';
import { standing } from '../standing';

/**
 * Escape for a drawer from its first paint on, wherever the focus is; antd listens some time later.
 * A dialog, menu or calendar that stands over `within` is left first, by its own means.
 */
export function useEscape(within: string, close: (() => void) | undefined): void {
  const escape = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Escape' || composing(event) || !close) return;
    const top = standing('[role=dialog], [role=menu], .ant-picker-dropdown').at(-1);
    if (top && (!top.closest(within) || top.matches('dialog'))) return;
    event.stopPropagation(); // what is opened now must not hear it
    close();
  });
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => escape(event);
    document.addEventListener('keydown', pressed, true); // while what is over it still stands
    return () => document.removeEventListener('keydown', pressed, true);
  }, []);
}
