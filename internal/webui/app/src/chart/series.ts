import type { Schemas } from '../api/client';
import { addDays } from '../range/days';
import { add } from '../tokens/tokens';

export type Day = Schemas['DayMetrics'];

export interface Totals {
  calls: number;
  successes: number;
  failures: number;
  /** Tokens; null where no call reported them. */
  input: number | null;
  output: number | null;
  /** Fraction; null without calls. */
  rate: number | null;
  avgMs: number | null;
}

/** One bar of a chart: a day, or a week of days. */
export interface Bucket extends Totals {
  /** Its first day. */
  date: string;
  /** What stands under it instead of its day: 14:00 for an hour. */
  label?: string;
  days: number;
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
  /** Not over yet. */
  open: boolean;
  /** The rest of a range that is no whole number of weeks, or a week whose first days have no records. */
  part: boolean;
  /** False where nothing was recorded: its figures are absent, not 0. */
  known: boolean;
}

/** Sums days; the average is weighted by calls. */
export function sum(days: readonly Day[]): Totals {
  let [calls, successes, failures, time] = [0, 0, 0, 0];
  for (const day of days) {
    calls += day.calls;
    successes += day.successes;
    failures += day.failures;
    time += (day.avgDurationMs ?? 0) * day.calls;
  }
  const [input, output] = [add(days.map(({ tokens }) => tokens.input)), add(days.map(({ tokens }) => tokens.output))];
  return {
    calls,
    successes,
    failures,
    input,
    output,
    rate: calls === 0 ? null : successes / calls,
    avgMs: calls === 0 ? null : time / calls,
  };
}

/** `from` is the first day with records. */
export const byDay = (days: readonly Day[], today: string, from: string): Bucket[] =>
  days.map((day) => ({
    ...sum([day]),
    date: day.date,
    days: 1,
    avgMs: day.avgDurationMs,
    p50Ms: day.p50Ms,
    p95Ms: day.p95Ms,
    p99Ms: day.p99Ms,
    open: day.date === today,
    part: false,
    known: day.date >= from,
  }));

/** Seven days from the first on; percentiles of days cannot be added, so there are none. */
export function byWeek(days: readonly Day[], today: string, from: string): Bucket[] {
  const weeks: Bucket[] = [];
  for (let at = 0; at < days.length; at += 7) {
    const week = days.slice(at, at + 7);
    weeks.push({
      ...sum(week),
      date: week[0]!.date,
      days: week.length,
      p50Ms: null,
      p95Ms: null,
      p99Ms: null,
      open: week.some((day) => day.date === today),
      part: week.length < 7 || week.some((day) => day.date < from),
      known: week.some((day) => day.date >= from),
    });
  }
  return weeks;
}

/** Bars get at least 3 of the pixels there are, gaps as wide as half a bar included; else weeks. */
export const needsWeeks = (days: number, width: number): boolean => width / days < 4.5;

/**
 * The two periods over the same closed days: today, which is not over, and its counterpart are left out of both. Two whole
 * periods are compared whole, though months differ in length. Null when nothing is left to compare.
 */
export function comparable(now: readonly Day[], previous: readonly Day[], today: string): { now: Totals; before: Totals } | null {
  const closed = now.filter(({ date }) => date < today);
  if (closed.length === 0) return null;
  return { now: sum(closed), before: sum(closed.length === now.length ? previous : previous.slice(0, closed.length)) };
}

export const lastDayOf = (bucket: Bucket): string => addDays(bucket.date, bucket.days - 1);
