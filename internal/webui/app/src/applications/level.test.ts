import { expect, test } from 'vitest';
import { levelOf } from './level';

test('an application stands out from one failure in a hundred on, and is failing from one in twenty', () => {
  const level = (calls: number | null, failures: number | null) => levelOf({ calls, failures });
  expect([level(null, null), level(0, 0), level(1000, 0), level(1000, 9)]).toEqual([null, null, null, null]);
  expect([level(1000, 10), level(1000, 49)]).toEqual(['warn', 'warn']);
  expect([level(1000, 50), level(1, 1)]).toEqual(['failed', 'failed']);
});
