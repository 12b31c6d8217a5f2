import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dated, unwrap } from '../api/client';
import { following, freshness, keepWithin } from '../ui/page/queries';

interface Period {
  start: string;
  end: string;
}

/** Which of the own applications, in which order; all that is empty is left out. */
export interface Wanted {
  q: string;
  status: '' | 'active' | 'disabled';
  sort: (typeof SORTS)[number];
}

export const SORTS = ['newest', 'name', 'calls', 'failures', 'lastCall'] as const;

const asked = ({ q, status, sort }: Wanted) => ({
  ...(q === '' ? {} : { q }),
  ...(status === '' ? {} : { status }),
  ...(sort === 'newest' ? {} : { sort }),
});

export const applicationQueries = {
  /** Ten applications with their figures in a period of Beijing days. */
  list: ({ start, end }: Period, wanted: Wanted, page: number, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['applications', 'list', { start, end, page, ...wanted }],
      queryFn: ({ signal }) =>
        dated(api.GET('/api/statistics/applications', { params: { query: { start, end, page, ...asked(wanted) } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
  get: (id: string) =>
    queryOptions({
      queryKey: ['applications', 'get', { id }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/applications/{id}', { params: { path: { id } }, signal })),
    }),
  /** The application's keys, without the keys themselves; asked again while one of them has limits to be looked at. */
  keys: (id: string) =>
    queryOptions({
      queryKey: ['applications', 'keys', { id }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/applications/{id}/keys', { params: { path: { id } }, signal })),
      refetchInterval: ({ state }) => (state.data?.items.some(({ limitsUsage }) => limitsUsage.length > 0) ? 15_000 : false),
    }),
  /** What it uses of its limits; asked again while it is looked at. */
  limits: (id: string) =>
    queryOptions({
      queryKey: ['applications', 'limits', { id }],
      queryFn: async ({ signal }) =>
        (await unwrap(api.GET('/api/applications/{id}/limits/usage', { params: { path: { id } }, signal }))).items,
      staleTime: 0,
      refetchInterval: 5_000,
    }),
  /** Figures of one application in a period of Beijing days. */
  statistics: (id: string, { start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['applications', 'statistics', { id, start, end }],
      queryFn: ({ signal }) =>
        dated(api.GET('/api/statistics/applications/{id}', { params: { path: { id }, query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepWithin(id),
      refetchInterval: following(holdsToday, start, end),
    }),
  /** The same by its keys. */
  keyFigures: (id: string, { start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['applications', 'keyFigures', { id, start, end }],
      queryFn: ({ signal }) =>
        dated(api.GET('/api/statistics/applications/{id}/keys', { params: { path: { id }, query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepWithin(id),
      refetchInterval: following(holdsToday, start, end),
    }),
};
