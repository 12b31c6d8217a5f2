import { useSyncExternalStore } from 'react';

/**
 * What the page remembers: language and theme, in a cookie, so that the server knows them first; behind them
 * whether single keys do something, and the day of the newest news that were seen.
 */
export type ThemeChoice = 'system' | 'light' | 'dark';

interface Preferences {
  language: string;
  theme: ThemeChoice;
  /** Whether a key by itself does something; Ctrl, ⌘ and Escape do always. */
  singleKeys: boolean;
}

const OFF = 'nokeys';
const SEEN = 'news';
const kept = (/(?:^|; )callgate_ui=([^;]*)/.exec(document.cookie)?.[1] ?? '').split('.').slice(2);
let singleKeys = !kept.includes(OFF);
let seenNews = kept.find((part) => part.startsWith(SEEN))?.slice(SEEN.length) ?? '';
const listeners = new Set<() => void>();

/** Whether single keys do something, now. */
export const singleKeysOn = (): boolean => singleKeys;

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSingleKeys = (): boolean => useSyncExternalStore(subscribe, singleKeysOn);

export function chooseSingleKeys(on: boolean): void {
  singleKeys = on;
  remember({});
  listeners.forEach((listener) => listener());
}

/** Whether there are news of this day or later ones that this browser has not shown. */
export const useUnseenNews = (newest: string): boolean => useSyncExternalStore(subscribe, () => seenNews < newest);

export function markNewsSeen(newest: string): void {
  if (seenNews >= newest) return;
  seenNews = newest;
  remember({});
  listeners.forEach((listener) => listener());
}

const root = document.documentElement;

export function remember(change: Partial<Preferences>): void {
  const next: Preferences = { language: root.lang, theme: root.dataset['theme'] as ThemeChoice, singleKeys, ...change };
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const parts = [next.language, next.theme, ...(next.singleKeys ? [] : [OFF]), ...(seenNews === '' ? [] : [SEEN + seenNews])];
  document.cookie = `callgate_ui=${parts.join('.')}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
