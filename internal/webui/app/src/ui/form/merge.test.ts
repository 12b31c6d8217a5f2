import { expect, test } from 'vitest';
import { merge } from './merge';

const base = { name: 'Chat', model: 'm', status: 'enabled', ids: ['a', 'b', 'c'] as readonly string[] };

test('what only one of two people changed stays as they made it', () => {
  const { value, taken, both } = merge(base, { ...base, status: 'disabled' }, { ...base, name: 'Talk' });
  expect(value).toEqual({ ...base, name: 'Talk', status: 'disabled' });
  expect([taken, both]).toEqual([['status'], []]);
});

test('what both changed differently is asked; the same change is none', () => {
  const { value, taken, both } = merge(base, { ...base, name: 'Theirs', model: 'n' }, { ...base, name: 'Ours', model: 'n' });
  expect(value).toEqual({ ...base, name: 'Ours', model: 'n' });
  expect([taken, both]).toEqual([[], ['name']]);
});

test('of a list each addition and removal of both counts', () => {
  const { value, taken, both } = merge(base, { ...base, ids: ['b', 'c', 'd'] }, { ...base, ids: ['a', 'b', 'e'] });
  expect(value.ids).toEqual(['b', 'd', 'e']);
  expect([taken, both]).toEqual([['ids'], []]);
});
