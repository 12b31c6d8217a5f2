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

const search = ({ day, model, onlyFailures }: Filter) => ({
  start: day, end: day,
  ...(model === null ? {} : { model }),
  ...(onlyFailures ? { result: 'failure' as const } : {}),
});

export const callQueries = {
  /** Ten calls of a day, newest first. Live: asked again every 3 s while the tab is seen; sooner for a call just made. */
  page: (id: string, filter: Filter, page: number, { holdsToday, live, sought }: { holdsToday: boolean; live: boolean; sought: string | null }) =>
    queryOptions({
      queryKey: ['calls', 'page', { id, ...filter, page }],
      queryFn: ({ signal }) => dated(api.GET('/api/statistics/applications/{id}/calls', { params: { path: { id }, query: { ...search(filter), page } }, signal })),
      staleTime: freshness(holdsToday),
      refetchInterval: ({ state: { data, dataUpdateCount } }) => {
        if (!live) return false;
        const missing = sought !== null && data?.items.every(({ callId }) => callId !== sought);
        return missing && dataUpdateCount < 10 ? 400 : 3000;
      },
      placeholderData: keepWithin(id),
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
