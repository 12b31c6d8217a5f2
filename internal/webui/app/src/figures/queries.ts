import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dated, type Schemas } from '../api/client';
import { following, freshness, keepWithin } from '../ui/page/queries';

export type FailureNow = Schemas['FiguresFailureNow'];
export type CapabilityLine = Schemas['CapabilityFiguresLine'];

interface Period {
  start: string;
  end: string;
}

/** What owners and applications can be ordered by, descending. */
export const SORTS = ['calls', 'failures', 'failureRate', 'tokens', 'cost'] as const;
export type Sort = (typeof SORTS)[number];

/** Which owners or applications are asked for; `owner` is a user's id, of applications alone. */
export interface Wanted {
  sort: Sort;
  q: string;
  owner: string;
  page: number;
}

export const SIZE = 20;

/** Figures of all applications of all owners, for administrators. */
export const figuresQueries = {
  overview: ({ start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['figures', 'overview', { start, end }],
      queryFn: ({ signal }) => dated(api.GET('/api/admin/statistics/overview', { params: { query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
  capabilities: ({ start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['figures', 'capabilities', { start, end }],
      queryFn: ({ signal }) => dated(api.GET('/api/admin/statistics/capabilities', { params: { query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
  capability: (id: string, { start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['figures', 'capability', { id, start, end }],
      queryFn: ({ signal }) =>
        dated(api.GET('/api/admin/statistics/capabilities/{id}', { params: { path: { id }, query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepWithin(id),
      refetchInterval: following(holdsToday, start, end),
    }),
  owners: ({ start, end }: Period, { sort, q, page }: Omit<Wanted, 'owner'>, holdsToday: boolean, size = SIZE) =>
    queryOptions({
      queryKey: ['figures', 'owners', { start, end, sort, q, page, size }],
      queryFn: ({ signal }) =>
        dated(api.GET('/api/admin/statistics/owners', { params: { query: { start, end, sort, q, page, size } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
  applications: ({ start, end }: Period, { sort, q, owner, page }: Wanted, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['figures', 'applications', { start, end, sort, q, owner, page }],
      queryFn: ({ signal }) =>
        dated(
          api.GET('/api/admin/statistics/applications', {
            params: { query: { start, end, sort, q, page, size: SIZE, ...(owner === '' ? {} : { owner }) } },
            signal,
          }),
        ),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
  upstreams: ({ start, end }: Period, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['figures', 'upstreams', { start, end }],
      queryFn: ({ signal }) => dated(api.GET('/api/admin/statistics/upstreams', { params: { query: { start, end } }, signal })),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: following(holdsToday, start, end),
    }),
};
