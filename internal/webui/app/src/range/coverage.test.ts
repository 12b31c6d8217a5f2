import { expect, test } from 'vitest';
import { firstDay, late, unrecorded, whole } from './coverage';

const records = (collectedSince: string, retainedFrom = '2020-01-01') => ({ collectedSince, retainedFrom });

test('records begin on the Beijing day of the first collection, or where retention begins if that is later', () => {
  expect(firstDay(records('2026-11-07T23:59:59.999+08:00'))).toBe('2026-11-07');
  expect(firstDay(records('2026-11-07T16:00:00.000Z'))).toBe('2026-11-08');
  expect(firstDay(records('2026-11-07T09:00:00.000+08:00', '2026-11-10'))).toBe('2026-11-10');
});

test('a period that was not wholly collected or is not wholly kept is not compared', () => {
  expect(whole('2026-11-07', records('2026-11-07T00:00:00.000+08:00'))).toBe(true);
  expect(whole('2026-11-07', records('2026-11-07T00:00:00.001+08:00'))).toBe(false);
  expect(whole('2026-11-06', records('2026-11-07T00:00:00.000+08:00'))).toBe(false);
  expect(whole('2026-11-07', records('2020-01-01T00:00:00.000+08:00', '2026-11-07'))).toBe(true);
  expect(whole('2026-11-07', records('2020-01-01T00:00:00.000+08:00', '2026-11-08'))).toBe(false);
});

test('a range that ends before the records has no figures', () => {
  expect(unrecorded({ ...records('2026-11-07T09:00:00.000+08:00'), end: '2026-11-06' })).toBe(true);
  expect(unrecorded({ ...records('2026-11-07T09:00:00.000+08:00'), end: '2026-11-07' })).toBe(false);
});

test('figures are late when more than a minute is missing from the range, by the clock of the server', () => {
  const answeredAt = Date.parse('2026-11-20T14:00:00+08:00');
  const is = (end: string, dataThrough: string) =>
    late({ ...records('2020-01-01T00:00:00.000+08:00'), start: '2026-11-14', end, dataThrough, answeredAt });
  expect(is('2026-11-20', '2026-11-20T13:59:00.000+08:00')).toBe(false);
  expect(is('2026-11-20', '2026-11-20T13:58:59.999+08:00')).toBe(true);
  expect(is('2026-11-20', '2026-11-19T23:00:00.000+08:00')).toBe(true);
  expect(is('2026-11-18', '2026-11-19T00:00:00.000+08:00')).toBe(false);
  expect(is('2026-11-19', '2026-11-19T23:00:00.000+08:00')).toBe(true);
});
