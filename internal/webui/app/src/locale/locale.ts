import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { Language } from '../format/format';
import type { Site } from '../session/session';
import { remember } from '../ui/page/preferences';

// The console has no use for the words of the back office.
const load = {
  console: {
    'zh-CN': () => import('./zh/console'),
    en: () => import('./en/console'),
  },
  office: {
    'zh-CN': () => import('./zh/index'),
    en: () => import('./en/index'),
  },
};

// Words of single pages, which come with them.
const more = {
  capabilities: { 'zh-CN': () => import('./zh/capabilities'), en: () => import('./en/capabilities') },
  explore: { 'zh-CN': () => import('./zh/explore'), en: () => import('./en/explore') },
  playground: { 'zh-CN': () => import('./zh/playground'), en: () => import('./en/playground') },
  management: { 'zh-CN': () => import('./zh/management'), en: () => import('./en/management') },
};

/** The language of the page: the server chose it from the cookie, else from Accept-Language. */
export const language = (): Language => (document.documentElement.lang === 'en' ? 'en' : 'zh-CN');

let started: Promise<unknown>;

/** Loads one language of one site and no other. */
export const startLocale = (site: Site): Promise<unknown> => (started = begin(site));

async function begin(site: Site): Promise<void> {
  const words = await load[site][language()]();
  await i18next.use(initReactI18next).init({
    lng: language(),
    resources: { [language()]: words.default },
    defaultNS: 'common',
    interpolation: { escapeValue: false }, // React escapes
  });
}

/** A page of the console and its own words, fetched together. */
export async function withWords<T>(of: keyof typeof more, page: Promise<T>): Promise<T> {
  const [loaded, words] = await Promise.all([page, more[of][language()]()]);
  await started;
  i18next.addResourceBundle(language(), of, words.default);
  return loaded;
}

/** The other language, from the server on: nothing of the first is left over. */
export function switchLanguage(): void {
  remember({ language: language() === 'en' ? 'zh-CN' : 'en' });
  location.reload();
}
