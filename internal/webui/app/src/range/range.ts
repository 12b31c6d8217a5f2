import { addDays, isDay, lengthOf, monthOf } from './days';

/** The longest range that the API takes. */
export const MOST_DAYS = 366;

/** The longest range of a question for which the API reads every call. */
export const MOST_DAYS_READ = 31;

/** Ranges that move with the days, by the name that the URL has for each. */
export const PRESETS = ['7d', '30d', 'month', 'last-month'] as const;
export type Preset = (typeof PRESETS)[number];

export interface Range {
  /** Null: fixed dates. */
  preset: Preset | null;
  start: string;
  end: string;
  days: number;
}

const ranged = (preset: Preset | null, start: string, end: string): Range => ({ preset, start, end, days: lengthOf(start, end) });

/** What a preset is today. */
export function presetOf(preset: Preset, today: string): Range {
  if (preset === '7d' || preset === '30d') return ranged(preset, addDays(today, preset === '7d' ? -6 : -29), today);
  const { start } = monthOf(today);
  if (preset === 'month') return ranged(preset, start, today);
  const last = monthOf(addDays(start, -1));
  return ranged(preset, last.start, last.end);
}

/** Fixed dates, or null where the product takes no such range. */
export function custom(start: string, end: string, today: string): Range | null {
  if (!isDay(start) || !isDay(end) || start > end || end > today) return null;
  const range = ranged(null, start, end);
  return range.days > MOST_DAYS ? null : range;
}

/** What the URL asks for; null: nothing the product takes. */
export function read(search: URLSearchParams, today: string): Range | null {
  const [asked, start, end] = [search.get('range'), search.get('start'), search.get('end')];
  if (asked === null && start === null && end === null) return presetOf('7d', today);
  if (asked !== null) {
    const preset = PRESETS.find((one) => one === asked);
    return preset && start === null && end === null ? presetOf(preset, today) : null;
  }
  return start !== null && end !== null ? custom(start, end, today) : null;
}

/** What the URL says of a range: nothing of the default, and the page is back at 1. */
export function written(range: Range | null): Record<'range' | 'start' | 'end' | 'page', string | null> {
  const own = range?.preset === null ? range : null;
  return {
    range: range?.preset === '7d' ? null : (range?.preset ?? null),
    start: own?.start ?? null,
    end: own?.end ?? null,
    page: null,
  };
}

/** Whether it is a month, this one until today, which is compared with the month before and moves by months. */
export function isMonth({ preset, start, end }: Range): boolean {
  if (preset !== null) return preset === 'month' || preset === 'last-month';
  const month = monthOf(start);
  return start === month.start && end === month.end;
}

/** What a range is compared with: the same days of the month before, a month's end with a month's end; else as many days just before. */
export function before(range: Range): { start: string; end: string } {
  if (!isMonth(range)) return { start: addDays(range.start, -range.days), end: addDays(range.start, -1) };
  const last = monthOf(addDays(range.start, -1));
  const same = addDays(last.start, range.days - 1);
  return { start: last.start, end: range.end === monthOf(range.end).end || same > last.end ? last.end : same };
}

/** Moved by its own length, or by a month; the newest ends today. Null: there is nothing newer. */
export function shift(range: Range, by: -1 | 1, today: string): Range | null {
  if (by === 1 && range.end >= today) return null;
  if (isMonth(range)) {
    const { start, end } = monthOf(by === 1 ? addDays(range.end, 1) : addDays(range.start, -1));
    const named = (['month', 'last-month'] as const).map((preset) => presetOf(preset, today)).find((one) => one.start === start);
    return named ?? custom(start, end, today);
  }
  let end = addDays(range.end, by * range.days);
  if (end > today) end = today;
  const moved = custom(addDays(end, 1 - range.days), end, today);
  if (moved?.end === today && (moved.days === 7 || moved.days === 30)) return presetOf(moved.days === 7 ? '7d' : '30d', today);
  return moved;
}

/** What of the URL goes along to another page: the range and whether to compare. */
export function carried(search: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const name of ['range', 'start', 'end', 'compare']) {
    const value = search.get(name);
    if (value !== null) kept.set(name, value);
  }
  const text = kept.toString();
  return text === '' ? '' : `?${text}`;
}
