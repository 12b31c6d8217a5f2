import { expect, test } from 'vitest';
import { instantOf, rowAt } from './timeOfDay';

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
