import type { IconName } from '../ui/Icon';
import { others, words } from './words';

/** Something to do, or a page to go to, that the search knows by its words. */
export interface Verb {
  key: keyof typeof words.verbs;
  icon: IconName;
  go: string | (() => unknown);
}

/** How many stand where nothing is typed: the first ones. */
const FIRST = 8;

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Whether each typed word begins one of the text's, or, as Chinese has no blanks between them, stands in it. */
const holds = (text: string, typed: string): boolean =>
  typed.split(' ').every((part) => (/[^ -~]/.test(part) ? text : ` ${text}`).includes(/[^ -~]/.test(part) ? part : ` ${part}`));

/** Those that the text means, in either language: first those whose name begins with it. Without a text, the first. */
export function meant(verbs: readonly Verb[], text: string): readonly Verb[] {
  const typed = plain(text);
  if (typed === '') return text.trim() === '' ? verbs.slice(0, FIRST) : [];
  const found = verbs.map((verb) => {
    const names = [words, others].map((of) => plain(of.verbs[verb.key]));
    const also = [words, others].map((of) => plain((of.also as Partial<Record<Verb['key'], string>>)[verb.key] ?? ''));
    return { verb, first: names.some((name) => name.startsWith(typed)), any: holds([...names, ...also].join(' '), typed) };
  });
  return [...found.filter(({ first }) => first), ...found.filter(({ first, any }) => any && !first)].map(({ verb }) => verb);
}

/** The part of a page that a word names in either language. */
export function tabNamed<T extends keyof typeof words.tabs>(word: string, tabs: readonly T[]): T | undefined {
  const typed = plain(word);
  return typed === '' ? undefined : tabs.find((tab) => [words, others].some((of) => plain(of.tabs[tab] as string).startsWith(typed)));
}
