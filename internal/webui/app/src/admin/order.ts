/** The list with one element at another place; places outside are the ends. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const next = [...items];
  const place = Math.max(0, Math.min(to, items.length - 1));
  next.splice(place, 0, ...next.splice(from, 1));
  return next;
}

/** Where a row that is dragged to a height belongs, from the rows' middles; `from` is its own. */
export function placeAt(y: number, middles: readonly number[], from: number): number {
  return middles.filter((middle, n) => n !== from && middle < y).length;
}

const EDGE = 64; // px from the top or bottom of the window within which what is dragged rolls the list
const FASTEST = 24; // px a frame

/** By how many px a frame the window scrolls while a row is dragged at height y; the nearer its edge, the faster. */
export function scrollStep(y: number, height: number): number {
  const into = y < EDGE ? y - EDGE : y > height - EDGE ? y - (height - EDGE) : 0;
  return Math.round((Math.max(-EDGE, Math.min(EDGE, into)) / EDGE) * FASTEST);
}

/** The newest `updatedAt` of what was read; times of one zone sort as text. */
export const newestOf = (items: readonly { updatedAt: string }[]): string =>
  items
    .map(({ updatedAt }) => updatedAt)
    .sort()
    .at(-1) ?? '';

/** An order of what is there now: what is gone left out, what is new at the end. */
export const together = (wanted: readonly string[], now: readonly string[]): string[] => [
  ...wanted.filter((id) => now.includes(id)),
  ...now.filter((id) => !wanted.includes(id)),
];
