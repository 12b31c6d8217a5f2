import { useSearch } from './useSearch';

export type Sorted = 'ascending' | 'descending';

/** What rows are ordered by; null: there is nothing, which stands last either way. */
type Value = string | number | null;

/** The rows by a column, each where it stood among those that are equal. */
export function inOrder<T>(rows: readonly T[], value: (row: T) => Value, sorted: Sorted): T[] {
  const sign = sorted === 'ascending' ? 1 : -1;
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b));
  });
}

/**
 * Rows that are all there, in the order that the URL says under `name`: a column, or `-` and a column for the other way about;
 * numbers begin with the greatest. Without it they stay as they are, which is by `usual`, the greatest first.
 */
export function useOrder<T, K extends string>(
  name: string,
  rows: readonly T[],
  columns: Record<K, (row: T) => Value>,
  usual: NoInfer<K>,
): { rows: readonly T[]; head: (by: K) => { sorted: Sorted | undefined; onSort: () => void } } {
  const [search, setSearch] = useSearch();
  const asked = search.get(name) ?? '';
  const by = (Object.keys(columns) as K[]).find((one) => one === asked.replace(/^-/, ''));
  const natural = (one: K): Sorted => (rows.some((row) => typeof columns[one](row) === 'string') ? 'ascending' : 'descending');
  const turned = by !== undefined && asked.startsWith('-');
  const sorted: Sorted = turned === (natural(by ?? usual) === 'descending') ? 'ascending' : 'descending';
  return {
    rows: by === undefined ? rows : inOrder(rows, columns[by], sorted),
    head: (one) => {
      const current = one === (by ?? usual);
      const next = current && !turned ? `-${one}` : one;
      return {
        sorted: current ? sorted : undefined,
        onSort: () => setSearch({ [name]: next === usual ? null : next }, { replace: true }),
      };
    },
  };
}
