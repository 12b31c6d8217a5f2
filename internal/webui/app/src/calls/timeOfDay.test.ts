import { expect, test } from 'vitest';
import { instantIn, instantOf, rowAt } from './timeOfDay';

test('a time of day is Beijing time and holds the whole of what was written', () => {
  const means = (text: string) => instantOf('2026-11-20', text);
  expect(means('14:03:22')).toBe('2026-11-20T14:03:22.999+08:00');
  expect(means('14:03')).toBe('2026-11-20T14:03:59.999+08:00');
  expect(means(' 9：05 ')).toBe('2026-11-20T09:05:59.999+08:00');
  expect(means('1403')).toBe('2026-11-20T14:03:59.999+08:00');
  expect(means('9')).toBe('2026-11-20T09:59:59.999+08:00');
  for (const bad of ['', '24:00', '14:60', '14:03:60', 'now', '2:3', '14:03:22:1', '-1']) expect(means(bad), bad).toBeNull();
});

test('a jump leads to the newest call at or before it, else to the oldest there is', () => {
  const calls = ['03', '02', '01'].map((second) => ({ startTime: `2026-11-20T14:00:${second}.000+08:00` }));
  expect(rowAt(calls, '2026-11-20T14:00:02.999+08:00')).toBe(calls[1]);
  expect(rowAt(calls, '2026-11-20T13:00:00.000+08:00')).toBe(calls[2]);
  expect(rowAt([], '2026-11-20T13:00:00.000+08:00')).toBeUndefined();
});

test('in a range of days a time alone is of the last one, and a day before it is found in its year', () => {
  const means = (text: string) => instantIn('2025-12-30', '2026-01-02', text);
  expect(means('14:03')).toBe('2026-01-02T14:03:59.999+08:00');
  expect(means('12-31 9')).toBe('2025-12-31T09:59:59.999+08:00');
  expect(means('1-1')).toBe('2026-01-01T23:59:59.999+08:00');
  expect(means('2025-12-30 00:00:05')).toBe('2025-12-30T00:00:05.999+08:00');
  for (const bad of ['', '12-29 14:00', '2026-01-03', '02-30 10:00', '01-01 25:00']) expect(means(bad), bad).toBeNull();
});
