import { useSyncExternalStore } from 'react';

export interface Notice {
  id: number;
  kind: 'ok' | 'warn' | 'failed';
  text: string;
  /** Of the request that failed. */
  requestId: string | null;
}

let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Says something once, at the edge of the page; a failure stays until it is dismissed. */
export function notify(kind: Notice['kind'], text: string, requestId: string | null = null): void {
  const notice = { id: ++last, kind, text, requestId };
  set([...notices.filter((other) => other.text !== text), notice].slice(-3));
  if (kind !== 'failed') setTimeout(() => dismiss(notice.id), kind === 'warn' ? 8000 : 4000);
}

export const dismiss = (id: number): void => set(notices.filter((notice) => notice.id !== id));

export const useNotices = (): readonly Notice[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
