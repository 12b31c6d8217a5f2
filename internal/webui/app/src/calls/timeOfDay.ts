import { isDay } from '../range/days';

/**
 * The instant a time of day means on a Beijing day: the end of the hour, minute or second that was
 * written, so that all of it is at or before. `14`, `14:03`, `14:03:22`, `1403`; null is no time.
 */
export function instantOf(day: string, text: string): string | null {
  const found = /^(\d{1,2})(?:[:：.]?([0-5]\d)(?:[:：.]?([0-5]\d))?)?$/.exec(text.trim());
  if (!found || Number(found[1]) > 23) return null;
  const [hour, minute, second] = [found[1]!.padStart(2, '0'), found[2] ?? '59', found[3] ?? '59'];
  return `${day}T${hour}:${minute}:${second}.999+08:00`;
}

/** Which row a jump leads to: the newest call at or before the instant, else the oldest. */
export function rowAt<C extends { startTime: string }>(calls: readonly C[], instant: string): C | undefined {
  return calls.find(({ startTime }) => Date.parse(startTime) <= Date.parse(instant)) ?? calls.at(-1);
}

/**
 * The same in a range of days: a time alone is of its last day, else a day stands before it, as in
 * `11-20 14:03` or `2026-11-20`. Null where it is none of the range.
 */
export function instantIn(start: string, end: string, text: string): string | null {
  const [, year, month, date, time = '23:59:59'] = /^(?:(\d{4})-)?(\d{1,2})-(\d{1,2})(?:[ T]+(.+))?$/.exec(text.trim()) ?? [];
  if (month === undefined || date === undefined) return instantOf(end, text);
  const inYear = (of: string) => `${of}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`;
  const years = year === undefined ? [end.slice(0, 4), start.slice(0, 4)] : [year];
  const day = years.map(inYear).find((one) => one >= start && one <= end && isDay(one));
  return day === undefined ? null : instantOf(day, time);
}
