import { expect, test } from 'vitest';
import { failingNow, lasting, ours } from './failing';
import type { CapabilityLine, FailureNow } from './queries';

const failure = (model: string, failures: number, more: Partial<FailureNow> = {}): FailureNow => ({
  type: 'upstream_http_error',
  code: 'upstream_status',
  upstreamStatus: 503,
  model,
  name: model.toUpperCase(),
  failures,
  failuresBefore: 0,
  applicationCount: 1,
  ownerCount: 1,
  topApplications: [],
  firstSeen: '2026-08-17T09:31:00.000+08:00',
  lastSeen: '2026-08-17T09:40:00.000+08:00',
  ...more,
});
const until = '2026-08-17T09:42:11.000+08:00';
const line = (model: string, calls: number) =>
  ({ model, lastHour: { calls, failures: 0, successRate: null, p95Ms: null } }) as CapabilityLine;
const unbound = { type: 'permission_denied', code: 'capability_not_bound', upstreamStatus: null } as const;

test('a failure is ours unless the caller sent something wrong, was refused or left', () => {
  const upstream = (upstreamStatus: number | null) => ours({ type: 'upstream_http_error', code: 'upstream_status', upstreamStatus });
  expect([400, 404, 422].map(upstream)).toEqual([false, false, false]);
  expect([401, 403, 429, 500, 503, 302, null].every(upstream)).toBe(true);
  expect(ours({ type: 'timeout', code: 'upstream_timeout', upstreamStatus: null })).toBe(true);
  expect(ours({ type: 'timeout', code: 'caller_timeout', upstreamStatus: null })).toBe(false);
  expect(ours({ type: 'interrupted', code: 'client_closed', upstreamStatus: 200 })).toBe(false);
  expect(ours({ type: 'interrupted', code: 'upstream_closed', upstreamStatus: 200 })).toBe(true);
  expect(ours({ type: 'limited', code: 'rate_limited', upstreamStatus: null })).toBe(false);
  expect(ours(unbound)).toBe(false);
  expect(ours({ type: null, code: null, upstreamStatus: null })).toBe(true);
});

test('a capability fails from one in a hundred calls on, most failures first; the rest stands apart', () => {
  const { failing, others } = failingNow(
    [
      failure('a', 5),
      failure('b', 60, { failuresBefore: 2 }),
      failure('b', 40, { upstreamStatus: 429 }),
      failure('c', 9),
      failure('b', 7, unbound),
    ],
    [line('a', 500), line('b', 120), line('c', 1000)],
    until,
  );
  expect(failing.map(({ model, failures, before, reasons }) => [model, failures, before, reasons.length])).toEqual([
    ['b', 100, 2, 2],
    ['a', 5, 0, 1],
  ]);
  expect(others.map(({ model, failures }) => [model, failures])).toEqual([
    ['c', 9],
    ['b', 7],
  ]);
});

test('what was not seen for ten minutes has ended: it is told apart, and its capability fails no more', () => {
  const lastSeen = '2026-08-17T09:32:10.000+08:00';
  const { failing, others } = failingNow(
    [failure('a', 50, { lastSeen }), failure('b', 50, { lastSeen }), failure('b', 5, { upstreamStatus: 429 })],
    [line('a', 100), line('b', 100)],
    until,
  );
  expect(failing.map(({ model, failures }) => [model, failures])).toEqual([['b', 5]]);
  expect(others.map(({ model, failures }) => [model, failures])).toEqual([
    ['a', 50],
    ['b', 50],
  ]);
});

test('as long as its calls are not known, a capability with failures fails', () => {
  expect(failingNow([failure('a', 1)], [], until).failing).toHaveLength(1);
});

test('how long it lasts is told in minutes, up to the two hours that are known', () => {
  expect(lasting(failure('a', 1), until)).toBe(11);
  expect(lasting(failure('a', 1, { firstSeen: '2026-08-17T09:42:12.000+08:00' }), until)).toBe(0);
  expect(lasting(failure('a', 1, { firstSeen: '2026-08-17T07:44:00.000+08:00', failuresBefore: 3 }), until)).toBeNull();
});
