import { queryOptions } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { freshness, keepWithin } from '../ui/queries';

export type Call = Schemas['Call'];
export type CallPage = Schemas['CallPage'];

/** What the drawer asks for. */
export interface Filter {
  /** A Beijing day. */
  day: string;
  /** Null: all models; empty: calls without a capability. */
  model: string | null;
  onlyFailures: boolean;
}

const search = ({ day, model, onlyFailures }: Filter) => ({
  start: day, end: day,
  ...(model === null ? {} : { model }),
  ...(onlyFailures ? { result: 'failure' as const } : {}),
});

export const callQueries = {
  /** Ten calls of a day, newest first. Live: asked again every 3 s while the tab is seen. */
  page: (id: string, filter: Filter, page: number, { holdsToday, live }: { holdsToday: boolean; live: boolean }) =>
    queryOptions({
      queryKey: ['calls', 'page', { id, ...filter, page }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/statistics/applications/{id}/calls', { params: { path: { id }, query: { ...search(filter), page } }, signal })),
      staleTime: freshness(holdsToday),
      refetchInterval: live ? 3000 : false,
      placeholderData: keepWithin(id),
    }),
  /** One failed call; it does not change any more. */
  detail: (id: string, callId: string) =>
    queryOptions({
      queryKey: ['calls', 'detail', { id, callId }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/statistics/applications/{id}/calls/{callId}', { params: { path: { id, callId } }, signal })),
      staleTime: Infinity,
    }),
};

/** Where the calls of a filter are downloaded as CSV; the session cookie lets the browser in. */
export function csvAddress(id: string, filter: Filter): string {
  return `/api/statistics/applications/${id}/calls.csv?${new URLSearchParams(search(filter))}`;
}
