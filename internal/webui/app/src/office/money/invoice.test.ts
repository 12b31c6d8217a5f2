import { expect, test } from 'vitest';
import { differs, fileOf, rounded, totalOf, type Row } from './invoice';

const row = (name: string): Row => ({
  date: '2026-10-04',
  model: name,
  capability: name,
  calls: [3, 2, -1],
  input: [null, null, null],
  output: [null, null, null],
  cached: [null, null, null],
  cost: [{ currency: 'USD', ours: '1.5', theirs: '0.25', difference: '-1.25' }],
  meters: [{ meter: 'web_searches', of: [2, 3, 1] }],
  why: [{ reason: 'partial', calls: 4 }],
  unexplained: true,
  partial: 0,
  absent: 0,
  unpriced: 0,
});

test('a saved file says that it is UTF-8, and no cell of it is a formula', () => {
  const file = fileOf([row('通义"千问"')]);
  expect(file.startsWith('\ufeffdate,model,')).toBe(true);
  expect(file).toContain('2026-10-04,"通义""千问""","通义""千问""",3,2,-1,,,,,,,,,,USD,1.5,0.25,-1.25,0,0,0,partial 4,true,2,3,1\n');
  for (const name of ['=1+1', '+x', '-x', '@SUM(1)', '\t=1', '\n', '＝1', '＋x', '－x', '＠x', ' =1', '\u200b=1']) {
    expect(fileOf([row(name)]).split(`'${name}`)).toHaveLength(3);
  }
});

const sums = (calls: Row['calls'], cost: Row['cost'] = []): Row => ({ ...row('m'), calls, cost, meters: [] });
const usd = (ours: string | null, theirs: string | null, difference: string | null) => [{ currency: 'USD', ours, theirs, difference }];

test('lines differ where both sides tell something else, or one bills alone', () => {
  expect(differs(sums([3, 3, 0], usd('1', '1', '0')))).toBe(false);
  expect(differs(sums([3, null, null], usd('1', null, null)))).toBe(false); // the file does not tell it
  expect(differs(sums([null, null, null], usd(null, '0.000', null)))).toBe(false);
  expect(differs(sums([3, 2, -1]))).toBe(true);
  expect(differs(sums([3, 3, 0], usd('1', '1.0000000001', '0.0000000001')))).toBe(true);
  expect(differs(sums([null, null, null], usd(null, '2', null)))).toBe(true);
  expect(differs(sums([0, 3, 3]))).toBe(true);
});

test('meters that differ are a difference, and totals have theirs and the reasons', () => {
  const same = sums([3, 3, 0]);
  expect(differs({ ...same, meters: [{ meter: 'cache_write_1h', of: [4, 4, 0] }] })).toBe(false);
  expect(differs({ ...same, meters: [{ meter: 'cache_write_1h', of: [4, null, null] }] })).toBe(false);
  expect(differs({ ...same, meters: [{ meter: 'cache_write_1h', of: [4, 5, 1] }] })).toBe(true);
  const total = totalOf([row('m'), row('n'), { ...same, why: [{ reason: 'tier', calls: 1 }], unexplained: false }]);
  expect(total.meters).toEqual([{ meter: 'web_searches', of: [4, 6, 2] }]);
  expect(total.why).toEqual([
    { reason: 'partial', calls: 8 },
    { reason: 'tier', calls: 1 },
  ]);
  expect(total.unexplained).toBe(true);
});

test('totals are exact, whatever the number of decimals, and of what is known', () => {
  const total = totalOf([
    sums([1, null, null], usd('0.1', '0.000000000000000000000000000001', '-0.099999999999999999999999999999')),
    sums([2, 5, 3], usd('0.2', null, null)),
    sums([null, null, null], [{ currency: 'CNY', ours: '10', theirs: '12.50', difference: '2.50' }]),
  ]);
  expect(total.calls).toEqual([3, 5, 3]);
  expect(total.input).toEqual([null, null, null]);
  expect(total.cost).toEqual([
    { currency: 'CNY', ours: '10', theirs: '12.5', difference: '2.5' },
    { currency: 'USD', ours: '0.3', theirs: '0.000000000000000000000000000001', difference: '-0.099999999999999999999999999999' },
  ]);
});

test('amounts are rounded for reading', () => {
  expect(['1412.534625', '-1.3581576', '0.5', '0.0000123456', '-0', '0.00', '0.123456'].map(rounded)).toEqual([
    '1,412.53',
    '−1.36',
    '0.5',
    '0.00001235',
    '0',
    '0',
    '0.1235',
  ]);
  expect(rounded(null)).toBe('—');
});
