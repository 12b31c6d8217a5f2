import type { IconName } from '../ui/Icon';
import { meant, type Verb } from './verbs';
import { words } from './words';

/** A line of the search: an id that leads somewhere, a verb, or something that has the name. */
export interface Found {
  key: string;
  icon: IconName;
  text: string;
  note: string;
  go: string | (() => unknown);
}

/** Most lines of each kind. */
export const MOST = 8;

export const verbsFor = (verbs: readonly Verb[], text: string): Found[] =>
  meant(verbs, text).map(({ key, icon, go }) => ({ key: `verb ${key}`, icon, text: words.verbs[key], note: '', go }));

/** Whether one of the texts holds the words: what was found for the text before stands only as far as it fits the new one. */
export const fits = (typed: string, ...texts: string[]): boolean => texts.some((text) => text.toLowerCase().includes(typed.toLowerCase()));

/** In the order of the search: ids, what has exactly this name, verbs, and what has it in its name. */
export function inOrder(typed: string, ids: Found[], verbs: Found[], named: Found[]): Found[] {
  const exact = ({ text }: Found) => text.toLowerCase() === typed.toLowerCase();
  return [...ids, ...named.filter(exact), ...verbs, ...named.filter((one) => !exact(one))];
}
