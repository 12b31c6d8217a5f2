import type { Bucket } from '../chart/series';
import { dayOf } from '../range/days';
import type { Hour } from './queries';

/** Which durations of an hour a bucket carries: of the whole calls, or until their first byte. */
export type Span = 'whole' | 'firstByte';

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** The first hour and the end of an hour, as times of its day: 14:00 and 15:00; the last one ends at 24:00. */
export function boundsOf({ hour }: Pick<Hour, 'hour'>): { from: string; to: string } {
  const n = new Date(Date.parse(hour) + 8 * 3_600_000).getUTCHours();
  return { from: clock(n), to: clock(n + 1) };
}

/** The hours of a day as a chart draws them; those to come, or from before the records, are absent. */
export function byHour(
  hours: readonly Hour[],
  { now, collectedSince, span }: { now: number; collectedSince: string; span: Span },
): Bucket[] {
  return hours.map((hour) => {
    const start = Date.parse(hour.hour);
    const end = start + 3_600_000;
    const { calls, successes, failures } = hour;
    const durations =
      span === 'whole'
        ? { avgMs: hour.avgDurationMs, p50Ms: hour.p50Ms, p95Ms: hour.p95Ms, p99Ms: hour.p99Ms }
        : { avgMs: hour.firstByte.avgMs, p50Ms: hour.firstByte.p50Ms, p95Ms: hour.firstByte.p95Ms, p99Ms: hour.firstByte.p99Ms };
    return {
      date: dayOf(start),
      days: 1,
      label: boundsOf(hour).from,
      calls,
      successes,
      failures,
      ...durations,
      input: null,
      output: null,
      rate: calls === 0 ? null : successes / calls,
      open: start <= now && now < end,
      part: false,
      known: start <= now && end > Date.parse(collectedSince),
    };
  });
}
