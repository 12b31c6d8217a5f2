import { describe, expect, test } from 'vitest';
import { addDays, dayOf, isDay, lengthOf } from './days';
import { before, carried, custom, presetOf, read, shift, written } from './range';

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
    expect(read(url(''), today)).toEqual({ preset: '7d', start: '2026-11-14', end: '2026-11-20', days: 7 });
  });
  test('a preset stays relative', () => {
    expect(read(url('range=30d'), '2027-01-01')).toEqual(presetOf('30d', '2027-01-01'));
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
    expect(written(presetOf('7d', today))).toEqual({ range: null, start: null, end: null, page: null });
    expect(written(presetOf('30d', today))).toEqual({ range: '30d', start: null, end: null, page: null });
    expect(written(custom('2026-11-01', '2026-11-02', today))).toEqual({ range: null, start: '2026-11-01', end: '2026-11-02', page: null });
  });
  test('the period before has the same length and touches', () => {
    expect(before(presetOf('7d', today))).toEqual({ start: '2026-11-07', end: '2026-11-13' });
  });
  test('months are Beijing’s: this one until today, the last one whole', () => {
    expect(read(url('range=month'), '2026-03-05')).toEqual({ preset: 'month', start: '2026-03-01', end: '2026-03-05', days: 5 });
    expect(read(url('range=last-month'), '2026-03-05')).toEqual({ preset: 'last-month', start: '2026-02-01', end: '2026-02-28', days: 28 });
    expect(read(url('range=month'), '2028-01-01')).toMatchObject({ start: '2028-01-01', end: '2028-01-01' });
    expect(read(url('range=last-month'), '2028-01-01')).toMatchObject({ start: '2027-12-01', end: '2027-12-31' });
    expect(written(presetOf('last-month', today))).toEqual({ range: 'last-month', start: null, end: null, page: null });
  });
  test.each([
    ['month', '2026-11-20', '2026-10-01 2026-10-20'],
    ['month', '2026-03-29', '2026-02-01 2026-02-28'],
    ['month', '2026-11-30', '2026-10-01 2026-10-31'],
    ['last-month', '2026-11-20', '2026-09-01 2026-09-30'],
    ['last-month', '2026-04-02', '2026-02-01 2026-02-28'],
  ] as const)('%s on %s is compared with %s', (preset, day, days) => {
    const { start, end } = before(presetOf(preset, day));
    expect(`${start} ${end}`).toBe(days);
  });
  test('months are moved by months, and what only looks like one is not', () => {
    const last = shift(presetOf('month', today), -1, today)!;
    expect(last).toEqual(presetOf('last-month', today));
    const earlier = shift(last, -1, today)!;
    expect(earlier).toEqual({ preset: null, start: '2026-09-01', end: '2026-09-30', days: 30 });
    expect(before(earlier)).toEqual({ start: '2026-08-01', end: '2026-08-31' });
    expect(shift(earlier, 1, today)).toEqual(last);
    expect(shift(last, 1, today)).toEqual(presetOf('month', today));
    expect(shift(presetOf('month', today), 1, today)).toBeNull();
    expect(before(custom('2026-11-01', today, today)!)).toEqual({ start: '2026-10-12', end: '2026-10-31' });
  });
  test('moving forth and back ends where it began', () => {
    const earlier = shift(presetOf('7d', today), -1, today)!;
    expect(earlier).toEqual({ preset: null, start: '2026-11-07', end: '2026-11-13', days: 7 });
    expect(shift(earlier, 1, today)).toEqual(presetOf('7d', today));
    expect(shift(presetOf('7d', today), 1, today)).toBeNull();
  });
  test('moving on never passes today', () => {
    expect(shift(custom('2026-11-08', '2026-11-17', today)!, 1, today)).toEqual({
      preset: null,
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
