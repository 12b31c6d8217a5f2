import { queryOptions } from '@tanstack/react-query';
import { api, dated, type Dated, type Schemas } from '../api/client';
import { exact, member, type Exact } from '../json/exact';
import { freshness, keepWithin } from '../ui/queries';

export type Call = Schemas['Call'];
export type CallPage = Dated<Schemas['CallPage']>;
/** A failed call; its body keeps the digits that were sent. */
export type FailedCall = Schemas['FailedCall'] & { body: Exact };

/** What the drawer asks for. */
export interface Filter {
  /** A Beijing day. */
  day: string;
  /** Null: all models; empty: calls without a capability. */
  model: string | null;
  onlyFailures: boolean;
}

/** Which page of the list: by number, as of the instant the list began (null: now). */
export interface Place {
  page: number;
  until: string | null;
}

const search = ({ day, model, onlyFailures }: Filter) => ({
  start: day, end: day,
  ...(model === null ? {} : { model }),
  ...(onlyFailures ? { result: 'failure' as const } : {}),
});

export const callQueries = {
  /** Ten calls of a day, newest first. Live: asked again every 3 s while the tab is seen; sooner for a call just made. */
  page: (id: string, filter: Filter, { page, until }: Place, { holdsToday, live, sought }: { holdsToday: boolean; live: boolean; sought: string | null }) =>
    queryOptions({
      queryKey: ['calls', 'page', { id, ...filter, page, until }],
      queryFn: ({ signal }) => dated(api.GET('/api/statistics/applications/{id}/calls', { params: { path: { id }, query: { ...search(filter), page, ...(until === null ? {} : { until }) } }, signal })),
      staleTime: freshness(holdsToday),
      refetchInterval: ({ state: { data, dataUpdateCount } }) => {
        if (!live) return false;
        const missing = sought !== null && data?.items.every(({ callId }) => callId !== sought);
        return missing && dataUpdateCount < 10 ? 400 : 3000;
      },
      placeholderData: keepWithin(id),
    }),
  /** The page that holds an instant; its `page` says which. */
  at: (id: string, filter: Filter, at: string, until: string | undefined) =>
    queryOptions({
      queryKey: ['calls', 'at', { id, ...filter, at, until }],
      queryFn: ({ signal }) => dated(api.GET('/api/statistics/applications/{id}/calls', { params: { path: { id }, query: { ...search(filter), at, ...(until === undefined ? {} : { until }) } }, signal })),
      staleTime: 0,
    }),
  /** One failed call; it does not change any more. */
  detail: (id: string, callId: string) =>
    queryOptions({
      queryKey: ['calls', 'detail', { id, callId }],
      queryFn: async ({ signal }): Promise<FailedCall> => {
        const { data } = await api.GET('/api/statistics/applications/{id}/calls/{callId}', { params: { path: { id, callId } }, parseAs: 'text', signal });
        const text = data as string;
        const call = (JSON.parse(text) as { data: Schemas['FailedCall'] }).data;
        return { ...call, body: member(member(member(exact(text), 'data'), 'failure'), 'requestBody') ?? 'null' };
      },
      staleTime: Infinity,
    }),
};

/** Where the calls of a filter are downloaded as CSV; the session cookie lets the browser in. */
export function csvAddress(id: string, filter: Filter): string {
  return `/api/statistics/applications/${id}/calls.csv?${new URLSearchParams(search(filter))}`;
}
