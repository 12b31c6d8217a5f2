import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dated, type Schemas } from '../api/client';
import { following, freshness, keepWithin } from '../ui/page/queries';

export type Reason = Schemas['Reason'] | Schemas['OverviewReason'];
export type Hour = Schemas['HourMetrics'];

interface Period {
  start: string;
  end: string;
}

/** Null for the application: all own ones. */
type Whose = string | null;

export const whyQueries = {
  /** Why calls failed in a period, the most frequent reasons first; of one model, or (null) of all. */
  reasons: (id: Whose, { start, end }: Period, holdsToday: boolean, model: string | null = null) =>
    queryOptions({
      queryKey: ['why', 'reasons', { id: id ?? '', start, end, model }],
      queryFn: ({ signal }) =>
        id === null
          ? dated(
              api.GET('/api/statistics/applications/overview/reasons', {
                params: { query: { start, end, ...(model === null ? {} : { model }) } },
                signal,
              }),
            )
          : dated(
              api.GET('/api/statistics/applications/{id}/reasons', {
                params: { path: { id }, query: { start, end, ...(model === null ? {} : { model }) } },
                signal,
              }),
            ),
      staleTime: freshness(holdsToday),
      placeholderData: keepWithin(id ?? ''),
      refetchInterval: following(holdsToday, start, end),
    }),
  /** A Beijing day by the hour. */
  hourly: (id: Whose, day: string, isToday: boolean) =>
    queryOptions({
      queryKey: ['why', 'hourly', { id: id ?? '', day }],
      queryFn: ({ signal }) =>
        id === null
          ? dated(api.GET('/api/statistics/applications/overview/hourly', { params: { query: { day } }, signal }))
          : dated(api.GET('/api/statistics/applications/{id}/hourly', { params: { path: { id }, query: { day } }, signal })),
      staleTime: freshness(isToday),
      placeholderData: id === null ? keepPreviousData : keepWithin(id),
      refetchInterval: following(isToday, day, day),
    }),
};

/** A reason as the calls' filter names it. */
export const reasonOf = ({ type, code }: { type: string | null; code: string | null }): string =>
  type === null ? '' : code === null ? type : `${type}:${code}`;
