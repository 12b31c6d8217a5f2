/** Calendar arithmetic on Beijing days, written YYYY-MM-DD. No zone of the browser comes in. */

const DAY = 86_400_000;

/** The Beijing day of an instant in ms. */
export const dayOf = (instant: number): string => new Date(instant + 8 * 3_600_000).toISOString().slice(0, 10);

export const today = (): string => dayOf(Date.now());

export const addDays = (day: string, n: number): string => new Date(Date.parse(`${day}T00:00:00Z`) + n * DAY).toISOString().slice(0, 10);

/** Days from start to end, both included. */
export const lengthOf = (start: string, end: string): number =>
  Math.round((Date.parse(`${end}T00:00:00Z`) - Date.parse(`${start}T00:00:00Z`)) / DAY) + 1;

/** The first and the last day of the month that a day is in. */
export function monthOf(day: string): { start: string; end: string } {
  const start = `${day.slice(0, 8)}01`;
  return { start, end: addDays(`${addDays(start, 31).slice(0, 8)}01`, -1) };
}

/** A day that exists, between 2000 and 2100. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '2000-01-01' || text > '2100-12-31') return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
}

/** The Beijing time of day of an instant in ms: 14:03:22. */
export const clockOf = (instant: number): string => new Date(instant + 8 * 3_600_000).toISOString().slice(11, 19);
