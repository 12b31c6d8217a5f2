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
