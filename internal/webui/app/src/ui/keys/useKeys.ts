import { useEffectEvent, useLayoutEffect } from 'react';
import { composing } from '../form/composing';
import { singleKeysOn } from '../page/preferences';
import { standing } from '../standing';

/**
 * Single keys for a page: `useKeys({ n: create, ArrowLeft: earlier })`. Off while somebody types, in
 * a dialog (unless inDialog), with Ctrl, Alt or Meta, and an arrow in a block that it scrolls;
 * all but Escape where they were turned off (WCAG 2.1.4).
 */
export function useKeys(keys: Record<string, (() => void) | undefined>, { inDialog = false } = {}): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || composing(event) || event.ctrlKey || event.altKey || event.metaKey) return;
    const at = event.target instanceof Element ? event.target : null;
    if (at?.closest('input, textarea, select, [contenteditable=true], [role=radiogroup], [role=tablist], [role=menu], [role=listbox]'))
      return;
    if (event.key.startsWith('Arrow') && at && scrolls(at)) return;
    if (event.key !== 'Escape' && !singleKeysOn()) return;
    if (!inDialog && standing('[role=dialog]').length > 0) return;
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  useLayoutEffect(() => {
    // at once: a key may come before other effects run
    const pressed = (event: KeyboardEvent) => press(event);
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
}

/** Whether an element stands in something narrower than its content, which the arrow keys move. */
function scrolls(at: Element): boolean {
  for (let element: Element | null = at; element && element !== document.body; element = element.parentElement)
    if (element.scrollWidth > element.clientWidth && /auto|scroll/.test(getComputedStyle(element).overflowX)) return true;
  return false;
}
