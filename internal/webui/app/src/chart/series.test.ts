import { expect, test } from 'vitest';
import type { Tokens } from '../tokens/tokens';
import { byDay, byWeek, comparable, needsWeeks, sum, type Day } from './series';

const tokens = (input: number | null, output: number | null): Tokens => ({
  input,
  output,
  cached: null,
  cacheWrite: null,
  reasoning: null,
  reportedCalls: 0,
  partialCalls: 0,
  absentCalls: 0,
  unreadableCalls: 0,
  streamedCalls: 0,
  streamedAbsentCalls: 0,
});

const day = (date: string, calls: number, failures = 0, avg: number | null = calls > 0 ? 100 : null): Day => ({
  date,
  calls,
  successes: calls - failures,
  failures,
  successRate: calls ? (calls - failures) / calls : null,
  avgDurationMs: avg,
  p50Ms: avg,
  p95Ms: avg,
  p99Ms: avg,
  tokens: tokens(null, null),
  cost: [],
  totals: [],
});

test('averages are weighted by calls and absent without calls', () => {
  expect(sum([day('2026-11-01', 1, 0, 100), day('2026-11-02', 3, 1, 200)])).toEqual({
    calls: 4,
    successes: 3,
    failures: 1,
    input: null,
    output: null,
    rate: 0.75,
    avgMs: 175,
  });
  expect(sum([day('2026-11-01', 0)])).toEqual({ calls: 0, successes: 0, failures: 0, input: null, output: null, rate: null, avgMs: null });
});

test('an unfinished day and its counterpart are left out of changes', () => {
  const now = [day('2026-11-19', 10), day('2026-11-20', 99)];
  const before = [day('2026-11-16', 5), day('2026-11-17', 77)];
  const both = comparable(now, before, '2026-11-20');
  expect(both?.now.calls).toBe(10);
  expect(both?.before.calls).toBe(5);
  expect(comparable([day('2026-11-20', 9)], [day('2026-11-19', 3)], '2026-11-20')).toBeNull();
});

test('months that are over are compared whole, the days of one that is not with those of a shorter one', () => {
  const days = (month: string, n: number) => Array.from({ length: n }, (_, at) => day(`${month}-${String(at + 1).padStart(2, '0')}`, 1));
  const calls = (now: Day[], before: Day[], today: string) => {
    const both = comparable(now, before, today);
    return [both?.now.calls, both?.before.calls];
  };
  expect(calls(days('2026-02', 28), days('2026-01', 31), '2026-03-05')).toEqual([28, 31]);
  expect(calls(days('2026-03', 31), days('2026-02', 28), '2026-03-31')).toEqual([30, 28]);
  expect(calls(days('2026-03', 20), days('2026-02', 20), '2026-03-20')).toEqual([19, 19]);
});

test('weeks add up and have no percentiles', () => {
  const days = Array.from({ length: 16 }, (_, n) => day(`2026-11-${String(n + 1).padStart(2, '0')}`, n + 1, 1));
  const weeks = byWeek(days, '2026-11-16', '2026-01-01');
  expect(weeks.map((week) => [week.date, week.days, week.calls, week.p50Ms, week.open, week.part])).toEqual([
    ['2026-11-01', 7, 28, null, false, false],
    ['2026-11-08', 7, 77, null, false, false],
    ['2026-11-15', 2, 31, null, true, true],
  ]);
  expect(byDay(days, '2026-11-16', '2026-01-01').at(-1)?.open).toBe(true);
});

test('a year on a narrow screen is drawn by weeks, a month by days', () => {
  expect(needsWeeks(366, 1100)).toBe(true);
  expect(needsWeeks(30, 330)).toBe(false);
});

test('days without records are unknown, and a week that has some of them is only a part', () => {
  const days = Array.from({ length: 14 }, (_, n) => day(`2026-11-${String(n + 1).padStart(2, '0')}`, 0));
  expect(
    byDay(days, '2026-11-14', '2026-11-13')
      .filter(({ known }) => known)
      .map(({ date }) => date),
  ).toEqual(['2026-11-13', '2026-11-14']);
  expect(byWeek(days, '2026-11-30', '2026-11-09').map(({ known, part }) => [known, part])).toEqual([
    [false, true],
    [true, true],
  ]);
});

test('tokens add up over the days that report them', () => {
  const days = [
    day('2026-11-01', 1),
    { ...day('2026-11-02', 3), tokens: tokens(5, null) },
    { ...day('2026-11-03', 3), tokens: tokens(7, 0) },
  ];
  expect(sum(days)).toMatchObject({ input: 12, output: 0 });
});
