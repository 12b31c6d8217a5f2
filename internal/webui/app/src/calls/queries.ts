import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dated, unwrap, type Dated, type Schemas } from '../api/client';
import { ApiError } from '../api/error';
import { exact, member, type Exact } from '../json/exact';
import { freshness, keepWithin, SLOW_RHYTHM } from '../ui/page/queries';
import type { Filter } from './filter';

/** A call of a list; of several applications, with its own. */
export type Call = Schemas['Call'] & Partial<Pick<Schemas['OwnCall'], 'application'>>;
export type CallPage = Dated<Omit<Schemas['OwnCallPage'], 'items' | 'size'> & { items: Call[]; size: number }>;
export type Facets = Schemas['CallFacets'];
export type Facet = keyof Facets;
/** A failed call; its body keeps the digits that were sent. */
export type FailedCall = Schemas['FailedCall'] & { body: Exact };
/** A call by its id alone; its failure is null where it succeeded. */
export type OwnCall = Schemas['FoundCall'] & { body: Exact };

/** Which page of the list: by number, as of the instant the list began (null: now). */
export interface Place {
  page: number;
  until: string | null;
}

/** Whose calls are asked for: of one application, ten a page, or of those of the filter, `size` a page. */
export type Source = { applicationId: string } | { size: PageSize };
export const PAGE_SIZES = [10, 25, 50, 100] as const;
export type PageSize = (typeof PAGE_SIZES)[number];

/** What of the API's query a filter is. */
export const search = ({ start, end, model, result, reason, status, upstreamStatus, text, message, key, tag, user, from, to }: Filter) => ({
  start,
  end,
  ...(model === null ? {} : { model }),
  ...(result === null ? {} : { result }),
  ...(reason === null ? {} : { reason }),
  ...(status === null ? {} : { status }),
  ...(upstreamStatus === null ? {} : { upstreamStatus }),
  ...(text === '' ? {} : { text }),
  ...(message === null ? {} : { message }),
  ...(key === null ? {} : { key }),
  ...(tag === null ? {} : { tag: [tag] }),
  ...(user === null ? {} : { user }),
  ...(from === null ? {} : { from }),
  ...(to === null ? {} : { to }),
});

const own = (filter: Filter) => ({
  ...search(filter),
  ...(filter.application === null ? {} : { application: [filter.application] }),
});

const ask = (of: Source, filter: Filter, where: { page?: number; at?: string; until?: string }, signal: AbortSignal): Promise<CallPage> =>
  'size' in of
    ? dated(api.GET('/api/statistics/calls', { params: { query: { ...own(filter), size: of.size, ...where } }, signal }))
    : dated(
        api.GET('/api/statistics/applications/{id}/calls', {
          params: { path: { id: of.applicationId }, query: { ...search(filter), ...where } },
          signal,
        }),
      );

const idOf = (of: Source) => ('size' in of ? `own ${of.size}` : of.applicationId);

/** Milliseconds after which a call that is not there yet will not come any more. */
const SETTLED = 60_000;

/** When a call id was made, in ms: it says so in its first 48 bits. */
export const madeAt = (callId: string): number => Number.parseInt(callId.replaceAll('-', '').slice(0, 12), 16);

export const callQueries = {
  /** A page of the calls of a filter, newest first. Live: asked again every 3 s while the tab is seen; sooner for a call just made. */
  page: (
    of: Source,
    filter: Filter,
    { page, until }: Place,
    { holdsToday, live, sought }: { holdsToday: boolean; live: boolean; sought: string | null },
  ) =>
    queryOptions({
      queryKey: ['calls', 'page', { id: idOf(of), ...filter, page, until }],
      queryFn: ({ signal }) => ask(of, filter, { page, ...(until === null ? {} : { until }) }, signal),
      staleTime: freshness(holdsToday),
      refetchInterval: ({ state: { data, dataUpdateCount } }) => {
        if (!live) return false;
        const missing = sought !== null && data?.items.every(({ callId }) => callId !== sought);
        return missing && dataUpdateCount < 10 ? 400 : 3000;
      },
      placeholderData: keepWithin(idOf(of)),
    }),
  /** The page that holds an instant; its `page` says which. */
  at: (of: Source, filter: Filter, at: string, until: string | undefined) =>
    queryOptions({
      queryKey: ['calls', 'at', { id: idOf(of), ...filter, at, until }],
      queryFn: ({ signal }) => ask(of, filter, { at, ...(until === undefined ? {} : { until }) }, signal),
      staleTime: 0,
    }),
  /** How many calls each value of a filter would find, under the others. */
  facets: (filter: Filter, until: string | null, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['calls', 'facets', { ...filter, until }],
      queryFn: ({ signal }) =>
        unwrap(
          api.GET('/api/statistics/calls/facets', { params: { query: { ...own(filter), ...(until === null ? {} : { until }) } }, signal }),
        ),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: holdsToday && until === null ? SLOW_RHYTHM : false,
    }),
  /** What the messages of the failures of a filter say. */
  messages: (filter: Filter, until: string | null, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['calls', 'messages', { ...filter, until }],
      queryFn: ({ signal }) =>
        unwrap(
          api.GET('/api/statistics/calls/messages', {
            params: { query: { ...own(filter), ...(until === null ? {} : { until }) } },
            signal,
          }),
        ),
      staleTime: freshness(holdsToday),
      placeholderData: keepPreviousData,
      refetchInterval: holdsToday && until === null ? SLOW_RHYTHM : false,
    }),
  /** One failed call; it does not change any more. */
  detail: (id: string, callId: string) =>
    queryOptions({
      queryKey: ['calls', 'detail', { id, callId }],
      queryFn: async ({ signal }): Promise<FailedCall> => {
        const { data } = await api.GET('/api/statistics/applications/{id}/calls/{callId}', {
          params: { path: { id, callId } },
          parseAs: 'text',
          signal,
        });
        return withBody<Schemas['FailedCall']>(data as string);
      },
      staleTime: Infinity,
    }),
  /** One own call, whatever its application and its result. One that was just made is waited for. */
  own: (callId: string) =>
    queryOptions({
      queryKey: ['calls', 'own', { callId }],
      queryFn: async ({ signal }): Promise<OwnCall> => {
        const { data } = await api.GET('/api/calls/{callId}', { params: { path: { callId } }, parseAs: 'text', signal });
        return withBody<Schemas['FoundCall']>(data as string);
      },
      staleTime: Infinity,
      retry: (failures, error) =>
        error instanceof ApiError &&
        (error.passing ? failures < 2 : error.status === 404 && failures < 12 && Math.abs(Date.now() - madeAt(callId)) < SETTLED),
      retryDelay: 500,
    }),
};

/** A call from the text of its answer, with its body as it was sent. */
function withBody<C>(text: string): C & { body: Exact } {
  const call = (JSON.parse(text) as { data: C }).data;
  return { ...call, body: member(member(member(exact(text), 'data'), 'failure'), 'requestBody') ?? 'null' };
}

/** Where the calls of a filter are downloaded as CSV; the session cookie lets the browser in. */
export function csvAddress(of: Source, filter: Filter): string {
  const [at, query] =
    'size' in of ? ['/api/statistics/calls', own(filter)] : [`/api/statistics/applications/${of.applicationId}/calls`, search(filter)];
  return `${at}.csv?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))}`;
}
