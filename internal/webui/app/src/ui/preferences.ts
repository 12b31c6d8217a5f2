/** What the page remembers: language and theme, in a cookie, so that the server knows them first. */
export type ThemeChoice = 'system' | 'light' | 'dark';

interface Preferences {
  language: string;
  theme: ThemeChoice;
}

const root = document.documentElement;

export function remember(change: Partial<Preferences>): void {
  const next: Preferences = { language: root.lang, theme: root.dataset['theme'] as ThemeChoice, ...change };
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `callgate_ui=${next.language}.${next.theme}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
