import { useSyncExternalStore } from 'react';
import { palettes } from './palette';
import { remember, type ThemeChoice } from './preferences';

export { palettes };

const root = document.documentElement;
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());
system.addEventListener('change', tell);

export const themeChoice = (): ThemeChoice => (root.dataset['theme'] ?? 'system') as ThemeChoice;
const isDark = (): boolean => themeChoice() === 'dark' || (themeChoice() === 'system' && system.matches);

export function chooseTheme(theme: ThemeChoice): void {
  root.dataset['theme'] = theme;
  remember({ theme });
  tell();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Whether the page is dark now; follows the choice and the system. */
export const useDark = (): boolean => useSyncExternalStore(subscribe, isDark);
export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, themeChoice);
