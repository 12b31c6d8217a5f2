import { expect, test } from 'vitest';
import { asked, ordered, sortsOf } from './usage';

const item = (name: string, calls: number, failures: number, input: number | null = null, cost: [string, string][] = []) => ({
  name,
  calls,
  failures,
  tokens: {
    input,
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
  },
  cost: cost.map(([currency, amount]) => ({ currency, amount, pricedCalls: calls, unpricedCalls: 0 })),
});

test('lists are ordered by each figure, and equal ones keep their order', () => {
  const items = [
    item('a', 10, 0),
    item('b', 1, 1, 500, [['USD', '0.5']]),
    item('c', 10, 4, 70, [
      ['USD', '1.25'],
      ['CNY', '0.1'],
    ]),
    item('d', 2, 2, null, [['CNY', '100']]),
  ];
  const names = (sort: Parameters<typeof ordered>[2]) =>
    ordered(items, (one) => one, sort)
      .map(({ name }) => name)
      .join('');
  expect(names('calls')).toBe('acdb');
  expect(names('failures')).toBe('cdba');
  expect(names('failureRate')).toBe('dbca'); // of equal rates the one with more failures
  expect(names('tokens')).toBe('bcad');
  expect(names('cost')).toBe('dcab'); // CNY prices 12 calls, USD 11
});

test('what the URL says wrongly is as if it said nothing', () => {
  const read = (search: string) => asked(new URLSearchParams(search), 1);
  expect(read('')).toEqual({ by: 'owners', sort: 'calls', q: '', owner: '', page: 1 });
  expect(read('by=nobody&sort=best&owner=x')).toEqual({ by: 'owners', sort: 'calls', q: '', owner: '', page: 1 });
  expect(read('by=upstreams&sort=cost').sort).toBe('calls');
  expect(read('by=applications&sort=cost&q= ada &owner=0198b5c1-0000-7a0c-8d55-90e2c4a1b7f3')).toEqual({
    by: 'applications',
    sort: 'cost',
    q: 'ada',
    owner: '0198b5c1-0000-7a0c-8d55-90e2c4a1b7f3',
    page: 1,
  });
  expect(sortsOf('upstreams')).not.toContain('tokens');
});
