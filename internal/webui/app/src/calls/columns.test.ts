import { expect, test } from 'vitest';
import { columnsOf, speedOf, usual } from './columns';

test('a URL names columns in any order, and what there is not counts for nothing', () => {
  expect(columnsOf('cost,time,smell', true)).toEqual(['time', 'cost']);
  expect(columnsOf('application', false)).toEqual(usual(false));
  expect(columnsOf(null, true)).toEqual(['time', 'application', 'model', 'result', 'status', 'reason', 'duration']);
});

test('tokens a second are those after the first byte', () => {
  expect(speedOf({ outputTokens: 50, durationMs: 1500, firstByteMs: 500 })).toBe(50);
  expect(speedOf({ outputTokens: 50, durationMs: 500, firstByteMs: 500 })).toBeNull();
  expect(speedOf({ outputTokens: null, durationMs: 1500, firstByteMs: 500 })).toBeNull();
});
