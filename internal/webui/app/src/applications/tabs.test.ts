import { expect, test } from 'vitest';
import { tabOf } from './tabs';

test.each([
  ['', '', 'usage'],
  ['range=30d', '', 'usage'],
  ['tab=settings', '', 'settings'],
  ['tab=calls', '', 'usage'],
  ['tab=what', '', 'usage'],
  ['', '#keys', 'keys'],
  ['', '#limits', 'limits'],
  ['range=30d', '#budgets', 'limits'],
  ['tab=limits', '#budgets', 'limits'],
  ['', '#what', 'usage'],
])('?%s%s shows %s', (search, hash, tab) => {
  expect(tabOf(new URLSearchParams(search), hash)).toBe(tab);
});
