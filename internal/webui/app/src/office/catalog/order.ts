import { changedMeanwhile } from '../../api/error';

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

/** A list in an order as the server would give it. */
export const inOrder = <T extends { id: string; sortOrder: number }>(items: readonly T[], ids: readonly string[]): T[] => {
  const places = together(ids, idsOf(items));
  return items.map((item) => ({ ...item, sortOrder: places.indexOf(item.id) + 1 })).sort((a, b) => a.sortOrder - b.sortOrder);
};

export const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** Whether what stands in both lists stands in the same order. */
const sameOrder = (a: readonly string[], b: readonly string[]): boolean =>
  a.filter((id) => b.includes(id)).join() === b.filter((id) => a.includes(id)).join();

/**
 * Stores an order of what was read; where somebody edited something else meanwhile, of what is there
 * now. It is refused where they ordered it: as neither it was read, nor by one of `own` orders.
 */
export async function storeOrder<T extends { id: string; updatedAt: string }>(
  ids: string[],
  read: readonly T[],
  own: readonly (readonly string[])[],
  put: (ids: string[], newest: string) => Promise<T[]>,
): Promise<T[]> {
  try {
    return await put(ids, newestOf(read));
  } catch (error) {
    const current = changedMeanwhile<{ items: T[] }>(error)?.items;
    if (!current || ![ids, idsOf(read), ...own].some((order) => sameOrder(idsOf(current), order))) throw error;
    return storeOrder(together(ids, idsOf(current)), current, own, put);
  }
}
