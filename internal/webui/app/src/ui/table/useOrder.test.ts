import { expect, test } from 'vitest';
import { inOrder } from './useOrder';

const rows = [
  { name: 'b', n: 2 },
  { name: 'none', n: null },
  { name: 'a', n: 10 },
  { name: 'c', n: 2 },
];
const names = (sorted: 'ascending' | 'descending', by: 'name' | 'n') => inOrder(rows, (row) => row[by], sorted).map(({ name }) => name);

test('numbers are ordered as numbers, equal ones stay as they stood, and what has none is last either way', () => {
  expect(names('descending', 'n')).toEqual(['a', 'b', 'c', 'none']);
  expect(names('ascending', 'n')).toEqual(['b', 'c', 'a', 'none']);
  expect(names('ascending', 'name')).toEqual(['a', 'b', 'c', 'none']);
  expect(rows[0]!.name).toBe('b');
});
