import { useLayoutEffect, useRef } from 'react';
import { standing } from './standing';

/**
 * Single keys for a page: `useKeys({ n: create, ArrowLeft: earlier })`. Off while somebody types, in
 * a dialog (unless inDialog), and with Ctrl, Alt or Meta.
 */
export function useKeys(keys: Record<string, (() => void) | undefined>, { inDialog = false } = {}): void {
  const latest = useRef(keys);
  useLayoutEffect(() => {
    latest.current = keys; // at once: the next key may come before effects run
  });
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      const at = event.target instanceof Element ? event.target : null;
      if (at?.closest('input, textarea, select, [contenteditable=true], [role=radiogroup], [role=tablist], [role=menu], [role=listbox]')) return;
      if (!inDialog && standing('[role=dialog]').length > 0) return;
      const action = latest.current[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [inDialog]);
}
