import { api, MOST_ROWS, unwrap } from '../api/client';
import type { AskPage, Period } from '../ui/table/saveCsv';
import type { Wanted } from './queries';
import { ordered, type By } from './usage';

/** How all of a list is saved, in its order. */
export function figuresPages(by: By, { start, end }: Period, { sort, q, owner }: Wanted): AskPage {
  const query = { start, end };
  switch (by) {
    case 'owners':
      return (page) => unwrap(api.GET('/api/admin/statistics/owners', { params: { query: { ...query, sort, q, page, size: MOST_ROWS } } }));
    case 'applications':
      return (page) =>
        unwrap(
          api.GET('/api/admin/statistics/applications', {
            params: { query: { ...query, sort, q, page, size: MOST_ROWS, ...(owner === '' ? {} : { owner }) } },
          }),
        );
    case 'capabilities':
      return async () => {
        const { items } = await unwrap(api.GET('/api/admin/statistics/capabilities', { params: { query } }));
        return { items: ordered(items, (one) => one, sort), total: items.length };
      };
    case 'upstreams':
      return async () => {
        const { items } = await unwrap(api.GET('/api/admin/statistics/upstreams', { params: { query } }));
        return {
          items: ordered(
            items.map(({ range }) => range),
            (one) => one,
            sort,
          ),
          total: items.length,
        };
      };
  }
}
