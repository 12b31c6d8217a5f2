import { expect, test } from 'vitest';
import { boundsOf, byHour } from './hours';
import type { Hour } from './queries';

const hour = (n: number, calls = 0): Hour => ({
  hour: `2026-11-20T${String(n).padStart(2, '0')}:00:00.000+08:00`,
  calls,
  successes: calls,
  failures: 0,
  successRate: calls === 0 ? null : 1,
  avgDurationMs: 10,
  p50Ms: 9,
  p95Ms: 20,
  p99Ms: 30,
  firstByte: { calls, avgMs: 1, p50Ms: 2, p95Ms: 3, p99Ms: 4 },
});
const said = { now: Date.parse('2026-11-20T14:30:00+08:00'), collectedSince: '2026-11-20T08:59:00+08:00' };

test('an hour is bounded by times of its Beijing day, the last one by its midnight', () => {
  expect(boundsOf(hour(14))).toEqual({ from: '14:00', to: '15:00' });
  expect(boundsOf(hour(23))).toEqual({ from: '23:00', to: '24:00' });
});

test('hours to come and from before the records are absent, the present one is open', () => {
  const buckets = byHour(
    [7, 8, 14, 15].map((n) => hour(n)),
    { ...said, span: 'whole' },
  );
  expect(buckets.map(({ label, known, open }) => [label, known, open])).toEqual([
    ['07:00', false, false],
    ['08:00', true, false],
    ['14:00', true, true],
    ['15:00', false, false],
  ]);
});

test('durations are of the whole calls or until the first byte', () => {
  expect(byHour([hour(9, 3)], { ...said, span: 'whole' })[0]).toMatchObject({ date: '2026-11-20', calls: 3, rate: 1, avgMs: 10, p50Ms: 9 });
  expect(byHour([hour(9)], { ...said, span: 'firstByte' })[0]).toMatchObject({ rate: null, avgMs: 1, p50Ms: 2, p95Ms: 3, p99Ms: 4 });
});
