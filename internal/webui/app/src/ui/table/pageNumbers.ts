/** The numbers of a pager: the first, the last and what is near the page; null is a gap of two or more. */
export function pageNumbers(page: number, pages: number, near: number): (number | null)[] {
  const shown = new Set([1, pages]);
  for (let n = page - near; n <= page + near; n++) if (n > 1 && n < pages) shown.add(n);
  const numbers: (number | null)[] = [];
  let before = 0;
  for (const n of [...shown].sort((a, b) => a - b)) {
    if (n - before === 2) numbers.push(n - 1);
    else if (n - before > 2) numbers.push(null);
    numbers.push(n);
    before = n;
  }
  return numbers;
}
