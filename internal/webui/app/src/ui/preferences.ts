import { useSyncExternalStore } from 'react';

/** What the page remembers: language and theme, in a cookie, so that the server knows them first; and whether single keys do something. */
export type ThemeChoice = 'system' | 'light' | 'dark';

interface Preferences {
  language: string;
  theme: ThemeChoice;
  /** Whether a key by itself does something; Ctrl, ⌘ and Escape do always. */
  singleKeys: boolean;
}

const OFF = 'nokeys';
let singleKeys = !new RegExp(`(?:^|; )callgate_ui=[^;]*\\.${OFF}(?:;|$)`).test(document.cookie);
const listeners = new Set<() => void>();

/** Whether single keys do something, now. */
export const singleKeysOn = (): boolean => singleKeys;

export const useSingleKeys = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, singleKeysOn);

export function chooseSingleKeys(on: boolean): void {
  singleKeys = on;
  remember({});
  listeners.forEach((listener) => listener());
}

const root = document.documentElement;

export function remember(change: Partial<Preferences>): void {
  const next: Preferences = { language: root.lang, theme: root.dataset['theme'] as ThemeChoice, singleKeys, ...change };
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `callgate_ui=${next.language}.${next.theme}${next.singleKeys ? '' : `.${OFF}`}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
