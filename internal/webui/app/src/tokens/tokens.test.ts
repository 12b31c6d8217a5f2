import { expect, test } from 'vitest';
import { add, addCosts, money, reported, together, unreportedShare, type Tokens } from './tokens';

const none: Tokens = {
  input: null,
  output: null,
  cached: null,
  cacheWrite: null,
  reasoning: null,
  reportedCalls: 0,
  partialCalls: 0,
  absentCalls: 0,
  unreadableCalls: 0,
  streamedCalls: 0,
  streamedAbsentCalls: 0,
};
const cost = (amount: string | null, currency: string | null, pricedCalls = 1, unpricedCalls = 0) => ({
  amount,
  currency,
  pricedCalls,
  unpricedCalls,
});

test('what is not known is never 0', () => {
  expect(reported(none)).toBe(false);
  expect(together(none)).toBeNull();
  expect(together({ input: 5, output: null })).toBe(5);
  expect(reported({ ...none, output: 0 })).toBe(true);
  expect(add([null, null])).toBeNull();
  expect(add([1, null, 2])).toBe(3);
  expect(money(cost(null, null))).toBe('—');
});

test('streams that report nothing are spoken of when they are many', () => {
  expect(unreportedShare(none)).toBeNull();
  expect(unreportedShare({ ...none, streamedCalls: 100, streamedAbsentCalls: 4 })).toBeNull();
  expect(unreportedShare({ ...none, streamedCalls: 50, streamedAbsentCalls: 19 })).toBe(0.38);
});

test('costs are added up exactly, each currency by itself', () => {
  expect(addCosts([])).toEqual([]);
  expect(addCosts([[cost('0.1', 'USD')], [cost('0.2', 'USD', 2, 3), cost('7', 'CNY', 1, 3)], [cost(null, null, 0, 2)]])).toEqual([
    cost('0.300000000000000000', 'USD', 3, 5),
    cost('7.000000000000000000', 'CNY', 1, 5),
  ]);
  expect(addCosts([[cost(null, null, 0, 2)]])).toEqual([cost(null, null, 0, 2)]);
  expect(addCosts([[cost('9007199254740993.000000000000000001', 'USD')], [cost('0.000000000000000001', 'USD')]])[0]!.amount).toBe(
    '9007199254740993.000000000000000002',
  );
});

test('money is written to be read', () => {
  expect(money(cost('1234.5678', 'USD'))).toBe('USD 1,234.57');
  expect(money(cost('0.012345', 'CNY'))).toBe('CNY 0.0123');
  expect(money(cost('0.0000123', 'CNY'))).toBe('CNY < 0.0001');
  expect(money(cost('0', 'CNY'))).toBe('CNY 0.00');
  expect(money(cost('58024.69', 'USD'))).toBe('USD 58,025');
});
