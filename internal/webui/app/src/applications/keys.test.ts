import { expect, test } from 'vitest';
import { draft, ending, fresh, stored, type Key } from './keys';

const key: Key = {
  id: 'k',
  first: false,
  name: 'Batch',
  maskedAccessKey: 'cg-Ab12…wxyz',
  createdAt: '2026-11-20T10:00:00.000+08:00',
  updatedAt: '2026-11-20T10:00:00.000+08:00',
  expiresAt: '2026-12-31T23:59:30.500+08:00',
  allowedCidrs: ['192.0.2.7/32', '2001:db8::/32'],
  lastUsedAt: null,
  replacedAt: null,
  limits: { requestsPerMinute: null, tokensPerMinute: null, concurrency: 3, callsPerDay: 1000, tokensPerDay: null },
  limitsUsage: [],
};

test('an end is typed in Beijing time, whatever the zone of the browser', () => {
  expect(draft({ ...fresh, name: ' Batch ', expires: '2026-12-31T08:00' })).toEqual({
    name: 'Batch',
    expiresAt: '2026-12-31T08:00:00+08:00',
  });
  expect(stored(key).expires).toBe('2026-12-31T23:59');
});

test('only what was edited is sent: an end that was not touched keeps its seconds', () => {
  const before = stored(key);
  expect(draft({ ...before, name: 'Night' }, before)).toEqual({ name: 'Night' });
  expect(draft({ ...before, expires: '' }, before)).toEqual({ expiresAt: null });
  expect(draft({ ...before, addresses: '192.0.2.7, 10.0.0.0/8\n\n ::1 ' }, before)).toEqual({
    allowedCidrs: ['192.0.2.7', '10.0.0.0/8', '::1'],
  });
  expect(draft({ ...before, addresses: '' }, before)).toEqual({ allowedCidrs: [] });
});

test('only the limits that were edited are sent, and an emptied one is removed', () => {
  const before = stored(key);
  expect([before.callsPerDay, before.concurrency, before.tokensPerDay]).toEqual(['1000', '3', '']);
  expect(draft({ ...before, callsPerDay: '2,000', concurrency: '' }, before)).toEqual({ limits: { callsPerDay: 2000, concurrency: null } });
  expect(draft({ ...fresh, name: 'Batch', tokensPerDay: '50000' })).toEqual({ name: 'Batch', limits: { tokensPerDay: 50_000 } });
});

test('a key that ends within three days is said to', () => {
  const end = Date.parse(key.expiresAt!);
  expect([end, end - 1, end - 72 * 3_600_000, end - 73 * 3_600_000].map((now) => ending(key, now))).toEqual([
    'expired',
    'soon',
    'soon',
    'later',
  ]);
  expect(ending({ expiresAt: null }, end)).toBe('never');
});
