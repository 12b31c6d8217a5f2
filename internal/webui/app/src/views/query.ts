/** What of a page's query a saved view keeps: all but where in a list one is, and the call that is open. Ordered, so that two of them can be compared. */
export function kept(search: URLSearchParams): string {
  const query = new URLSearchParams(search);
  for (const name of ['page', 'until', 'call']) query.delete(name);
  query.sort();
  return query.toString();
}
