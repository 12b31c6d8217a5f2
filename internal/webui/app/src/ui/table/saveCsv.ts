import { csvOf } from './csv';

/** The Beijing days that a file is of. */
export interface Period {
  start: string;
  end: string;
}

/** A page of a list, from 1. */
export type AskPage = (page: number) => Promise<{ items: readonly object[]; total: number }>;

/** So many pages are asked for, one after the other: 10,000 rows where a page has a hundred. */
const MOST_PAGES = 100;

/** All pages of a list, as far as so many are; `total` is how many rows there are. */
export async function allPages(ask: AskPage): Promise<{ rows: object[]; total: number }> {
  const rows: object[] = [];
  for (let page = 1; ; page++) {
    const { items, total } = await ask(page);
    rows.push(...items);
    if (rows.length >= total || items.length === 0 || page === MOST_PAGES) return { rows, total: Math.max(total, rows.length) };
  }
}

/** Has the browser save rows as they are, or all pages of a list; tells how many of how many are in the file. */
export async function saveCsv(
  name: string,
  { start, end }: Period,
  of: readonly object[] | AskPage,
): Promise<{ saved: number; total: number }> {
  const { rows, total } = typeof of === 'function' ? await allPages(of) : { rows: of, total: of.length };
  saveFile(`${name}-${start === end ? start : `${start}-${end}`}.csv`, csvOf(rows));
  return { saved: rows.length, total };
}

/** Has the browser save a file under a name. */
export function saveFile(name: string, of: string | Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(typeof of === 'string' ? new Blob([of], { type: 'text/csv' }) : of);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it after the click
}
