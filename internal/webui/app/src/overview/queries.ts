import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dated } from '../api/client';
import { following, freshness } from '../ui/page/queries';

export interface Period {
  start: string;
  end: string;
}

export const overviewQueries = {
  /** Figures of all own applications in a period, Beijing days. */
  get: ({ start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['overview', 'get', { start, end }],
      queryFn: ({ signal }) => dated(api.GET('/api/statistics/applications/overview', { params: { query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
};
