import { describe, expect, test } from 'vitest';
import { addDays, dayOf, isDay, lengthOf } from './days';
import { before, carried, custom, lastDays, read, shift, written } from './range';

const today = '2026-11-20';
const url = (text: string) => new URLSearchParams(text);

describe('days', () => {
  test('a day begins at midnight in Beijing', () => {
    expect(dayOf(Date.parse('2026-11-20T23:59:59.999+08:00'))).toBe('2026-11-20');
    expect(dayOf(Date.parse('2026-11-21T00:00:00.000+08:00'))).toBe('2026-11-21');
  });
  test('arithmetic crosses months, years and leap days', () => {
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
    expect(lengthOf('2024-01-01', '2024-12-31')).toBe(366);
  });
  test('only days that exist are days', () => {
    for (const good of ['2024-02-29', '2000-01-01', '2100-12-31']) expect(isDay(good), good).toBe(true);
    for (const bad of ['2026-02-29', '1999-12-31', '2101-01-01', '2026-1-1', 'today', '2026-13-01', ''])
      expect(isDay(bad), bad).toBe(false);
  });
});

describe('range', () => {
  test('an omitted range is the last 7 days, both ends included', () => {
    expect(read(url(''), today)).toEqual({ kind: 'last', start: '2026-11-14', end: '2026-11-20', days: 7 });
  });
  test('a preset stays relative', () => {
    expect(read(url('range=30d'), '2027-01-01')).toEqual(lastDays(30, '2027-01-01'));
  });
  test('366 days are the most', () => {
    expect(custom('2025-11-20', '2026-11-20', today)?.days).toBe(366);
    expect(custom('2025-11-19', '2026-11-20', today)).toBeNull();
  });
  test('what the product does not take is told apart', () => {
    for (const bad of [
      'range=8d',
      'start=2026-11-01',
      'end=2026-11-01',
      'start=2026-11-02&end=2026-11-01',
      'start=2026-11-20&end=2026-11-21',
      'start=x&end=y',
      'range=7d&start=2026-11-01&end=2026-11-02',
      'range=',
    ])
      expect(read(url(bad), today), bad).toBeNull();
  });
  test('the default leaves no trace in the URL and a new range starts at page 1', () => {
    expect(written(lastDays(7, today))).toEqual({ range: null, start: null, end: null, page: null });
    expect(written(lastDays(30, today))).toEqual({ range: '30d', start: null, end: null, page: null });
    expect(written(custom('2026-11-01', '2026-11-02', today))).toEqual({ range: null, start: '2026-11-01', end: '2026-11-02', page: null });
  });
  test('the period before has the same length and touches', () => {
    expect(before(lastDays(7, today))).toEqual({ start: '2026-11-07', end: '2026-11-13' });
  });
  test('moving forth and back ends where it began', () => {
    const earlier = shift(lastDays(7, today), -1, today)!;
    expect(earlier).toEqual({ kind: 'custom', start: '2026-11-07', end: '2026-11-13', days: 7 });
    expect(shift(earlier, 1, today)).toEqual(lastDays(7, today));
    expect(shift(lastDays(7, today), 1, today)).toBeNull();
  });
  test('moving on never passes today', () => {
    expect(shift(custom('2026-11-08', '2026-11-17', today)!, 1, today)).toEqual({
      kind: 'custom',
      start: '2026-11-11',
      end: '2026-11-20',
      days: 10,
    });
  });
  test('only range and comparison travel to other pages', () => {
    expect(carried(url('range=30d&page=2&compare=off&q=x'))).toBe('?range=30d&compare=off');
    expect(carried(url('page=2'))).toBe('');
  });
});
