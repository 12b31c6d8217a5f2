import { expect, test } from 'vitest';
import { TABS } from '../applications/tabs';
import { inOrder } from './found';
import { places } from './places';
import { meant, tabNamed } from './verbs';

const keys = (text: string) => meant(places(), text).map(({ key }) => key);

test.each([
  ['new app', ['newApplication']],
  ['app', ['applications', 'newApplication']],
  ['failed', ['failedToday']],
  ['TODAY', ['failedToday', 'callsToday']],
  ['call', ['callsToday', 'calls', 'failedToday']],
  ['models', ['capabilities']],
  ['预算', ['budgets']],
  ['失败', ['failedToday']],
  ['告警', ['alerts', 'newAlert']],
  ['新建', ['newApplication', 'newAlert', 'newToken']],
  ['新建 令牌', ['newToken']],
  ['pplication', []],
  ['?!', []],
])('%s means %j', (text, verbs) => expect(keys(text)).toEqual(verbs));

test('where nothing is typed the most useful stand', () => {
  expect(keys(' ')).toHaveLength(8);
  expect(keys('')[0]).toBe('newApplication');
});

test('a word names a part of an application in either language', () => {
  for (const word of ['keys', 'KEY', '密钥']) expect(tabNamed(word, TABS), word).toBe('keys');
  expect(tabNamed('keyboard', TABS)).toBeUndefined();
});

test('ids come first, then what has exactly the name, verbs, and what has it in its name', () => {
  const found = (text: string) => ({ key: text, icon: 'audit', text, note: '', go: '/' }) as const;
  const named = ['Budgets of all', 'budgets'].map(found);
  expect(inOrder('Budgets', [found('id')], [found('verb')], named).map(({ text }) => text)).toEqual([
    'id',
    'budgets',
    'verb',
    'Budgets of all',
  ]);
});
