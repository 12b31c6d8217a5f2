import { expect, test } from 'vitest';
import {
  byPressure,
  drafts,
  holds,
  mostPriced,
  parseAmount,
  parseCurrency,
  parsePercents,
  percentText,
  places,
  pressing,
  typedOf,
  type Budget,
} from './budgets';

const month: Budget = {
  id: 'm',
  scope: 'application',
  applicationId: 'a',
  applicationName: 'Search',
  keyId: null,
  keyName: null,
  ownerId: 'o',
  ownerEmail: 'dev@example.com',
  capabilityId: null,
  capabilityName: null,
  period: 'month',
  amount: '200',
  currency: 'USD',
  action: 'block',
  unknown: 'allow',
  thresholds: [50, 80, 100],
  override: null,
  from: '2026-08-01',
  resetsAt: '2026-09-01T00:00:00.000+08:00',
  spent: '84.31',
  left: '115.69',
  percent: 42.15,
  unknownCalls: 0,
  state: 'ok',
  forecast: null,
  updatedBy: 'dev@example.com',
  updatedAt: '2026-08-17T09:31:00.000+08:00',
};

test('amounts, currencies and percents are read as people write them', () => {
  expect(['200', ' 1,200.50 ', '0.000001'].map(parseAmount)).toEqual(['200', '1200.50', '0.000001']);
  expect(parseAmount(' ')).toBeNull();
  expect(['0', '-1', '1e3', '0.0000001', '1000000000', 'x'].map(parseAmount)).toEqual(Array(6).fill(undefined));
  expect([' usd', 'CNY', 'US', 'US1'].map(parseCurrency)).toEqual(['USD', 'CNY', undefined, undefined]);
  expect(parsePercents('50, 80，100%')).toEqual([50, 80, 100]);
  expect(parsePercents('')).toEqual([]);
  expect(['0', '1001', '12.5', 'x', '1 2 3 4 5 6'].map(parsePercents)).toEqual(Array(5).fill(undefined));
});

test('only what has an amount is sent, and a refusal finds its field', () => {
  const typed = typedOf([month], 'CNY');
  expect(typed.day).toEqual({ amount: '', currency: 'CNY', action: 'block', unknown: 'allow', thresholds: '50, 80, 100' });
  const { period, amount, currency, action, unknown, thresholds } = month;
  expect(drafts(typed)).toEqual([{ period, amount, currency, action, unknown, thresholds }]);
  expect(places(typed)['budgets[0].currency']).toBe('month.currency');
  expect(drafts({ ...typed, month: { ...typed.month, amount: '' } })).toEqual([]);
});

test('an override holds while it is active', () => {
  const override = { amount: '400', until: '2026-08-20T00:00:00.000+08:00', reason: 'load test', by: 'dev@example.com', active: true };
  expect(holds({ ...month, override })).toBe('400');
  expect(holds({ ...month, override: { ...override, active: false } })).toBe('200');
});

test('what presses most comes first; a key’s is an application’s line only where it does', () => {
  const [near, over]: Budget[] = [
    { ...month, id: 'n', state: 'near', percent: 90 },
    { ...month, id: 'o', state: 'over', percent: 101 },
  ];
  expect(byPressure([month, near!, over!]).map(({ id }) => id)).toEqual(['o', 'n', 'm']);
  const key: Budget = { ...month, id: 'k', scope: 'key', percent: 60 };
  expect(pressing([key, month], 'a')?.id).toBe('m');
  expect(pressing([{ ...key, state: 'near', percent: 85 }, month], 'a')?.id).toBe('k');
  expect(pressing([key], 'a')?.id).toBe('k');
  expect(pressing([month], 'b')).toBeUndefined();
});

test('a percent is cut, and the currency of most calls is the one to begin with', () => {
  expect([null, 0, 0.4, 42.15, 99.99, 100].map(percentText)).toEqual(['—', '0%', '< 1%', '42%', '99%', '100%']);
  const cost = (currency: string | null, pricedCalls: number) => ({ amount: '1', currency, pricedCalls, unpricedCalls: 0 });
  expect(mostPriced([cost('USD', 1), cost('CNY', 2)])).toBe('CNY');
  expect(mostPriced([cost(null, 0)])).toBeUndefined();
});
