import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { Locale } from 'antd/es/locale';
import type { Language } from '../format/format';
import { remember } from '../ui/preferences';

const load = {
  'zh-CN': () => Promise.all([import('./zh/index'), import('antd/es/locale/zh_CN')]),
  en: () => Promise.all([import('./en/index'), import('antd/es/locale/en_US')]),
};

let antdLocale: Locale;

/** The language of the page: the server chose it from the cookie, else from Accept-Language. */
export const language = (): Language => (document.documentElement.lang === 'en' ? 'en' : 'zh-CN');

/** Ant Design's words in the page's language. */
export const componentLocale = (): Locale => antdLocale;

/** Loads one language and no other. */
export async function startLocale(): Promise<void> {
  const [words, components] = await load[language()]();
  antdLocale = components.default;
  await i18next.use(initReactI18next).init({
    lng: language(),
    resources: { [language()]: words.default },
    defaultNS: 'common',
    interpolation: { escapeValue: false }, // React escapes
  });
}

/** The other language, from the server on: nothing of the first is left over. */
export function switchLanguage(): void {
  remember({ language: language() === 'en' ? 'zh-CN' : 'en' });
  location.reload();
}
