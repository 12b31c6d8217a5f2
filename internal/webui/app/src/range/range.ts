import { addDays, isDay, lengthOf } from './days';

/** The longest range that the API takes. */
export const MOST_DAYS = 366;

export interface Range {
  /** last: `days` up to today, which stays so tomorrow; custom: fixed dates. */
  kind: 'last' | 'custom';
  start: string;
  end: string;
  days: number;
}

export const lastDays = (days: 7 | 30, today: string): Range => ({ kind: 'last', start: addDays(today, 1 - days), end: today, days });

/** Fixed dates, or null where the product takes no such range. */
export function custom(start: string, end: string, today: string): Range | null {
  if (!isDay(start) || !isDay(end) || start > end || end > today) return null;
  const days = lengthOf(start, end);
  return days > MOST_DAYS ? null : { kind: 'custom', start, end, days };
}

/** What the URL asks for; null: nothing the product takes. */
export function read(search: URLSearchParams, today: string): Range | null {
  const [preset, start, end] = [search.get('range'), search.get('start'), search.get('end')];
  if (preset === null && start === null && end === null) return lastDays(7, today);
  if (preset !== null)
    return start === null && end === null && (preset === '7d' || preset === '30d') ? lastDays(preset === '7d' ? 7 : 30, today) : null;
  return start !== null && end !== null ? custom(start, end, today) : null;
}

/** What the URL says of a range: nothing of the default, and the page is back at 1. */
export function written(range: Range | null): Record<'range' | 'start' | 'end' | 'page', string | null> {
  const own = range?.kind === 'custom' ? range : null;
  return {
    range: range?.kind === 'last' && range.days === 30 ? '30d' : null,
    start: own?.start ?? null,
    end: own?.end ?? null,
    page: null,
  };
}

/** The period of the same length just before. */
export const before = (range: Range): { start: string; end: string } => ({
  start: addDays(range.start, -range.days),
  end: addDays(range.start, -1),
});

/** Moved by its own length; the newest ends today. Null: there is nothing newer. */
export function shift(range: Range, by: -1 | 1, today: string): Range | null {
  if (by === 1 && range.end >= today) return null;
  let end = addDays(range.end, by * range.days);
  if (end > today) end = today;
  const moved = custom(addDays(end, 1 - range.days), end, today);
  if (moved?.end === today && (moved.days === 7 || moved.days === 30)) return lastDays(moved.days, today);
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
