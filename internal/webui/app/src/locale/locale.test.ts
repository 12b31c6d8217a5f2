import { expect, test } from 'vitest';
import english from './en';
import englishFind from './en/find';
import chinese from './zh';
import chineseFind from './zh/find';

const en = { ...english, find: englishFind };
const zh = { ...chinese, find: chineseFind };

const flat = (words: object, at = ''): [string, string][] =>
  Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${at}${key}`, value] as [string, string]] : flat(value as object, `${at}${key}.`),
  );
const blanks = (text: string) => [...text.matchAll(/{{(\w+)}}/g)].map((m) => m[1]).sort();

test('both languages have the same sentences with the same blanks', () => {
  const [chinese, english] = [new Map(flat(zh)), new Map(flat(en))];
  expect([...english.keys()].sort()).toEqual([...chinese.keys()].sort());
  for (const [key, text] of chinese) expect(blanks(english.get(key)!), key).toEqual(blanks(text));
});

test('no sentence is empty and none of the English ones is Chinese', () => {
  for (const [key, text] of flat(zh)) expect(text.trim(), key).not.toBe('');
  for (const [key, text] of flat(en))
    expect(key === 'common.language.other' || !/[\u4e00-\u9fff]/.test(text), `${key}: ${text}`).toBe(true);
});
