import { expect, test } from 'vitest';
import { curlOf, endOf } from './tokens';

const at = (text: string) => Date.parse(text);

test.each([
  ['30', '2026-11-28T10:29:59Z', '2026-12-28T09:00:00.000Z'],
  ['30', '2026-11-28T10:30:00Z', '2026-12-28T10:00:00.000Z'],
  ['90', '2026-11-28T10:59:59Z', '2027-02-26T10:00:00.000Z'],
  ['366', '2026-11-28T10:00:00Z', '2027-11-29T09:00:00.000Z'],
] as const)('a token for %s days made at %s ends at %s', (days, now, end) => {
  expect(endOf(days, at(now))).toBe(end);
});

test('the command asks what any token may, and does not hold it', () => {
  expect(curlOf('https://callgate.example.com')).toContain("'https://callgate.example.com/api/statistics/applications/overview'");
  expect(curlOf('')).toContain('Bearer $CALLGATE_TOKEN');
});
