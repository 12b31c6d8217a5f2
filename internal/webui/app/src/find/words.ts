import { language } from '../locale/locale';
import en from '../locale/en/find';
import zh from '../locale/zh/find';

/** The words of the search, and those of the other language, which what is typed may be of. */
export const [words, others] = language() === 'en' ? [en, zh] : [zh, en];
