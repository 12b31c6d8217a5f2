import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../api/client';
import { addDays, today } from '../range/days';

/** Days that a trace is looked for in. */
const TRACE_DAYS = 30;
const MOST = 8;

export const findQueries = {
  /** Own applications whose name or id holds the words. */
  applications: (q: string) =>
    queryOptions({
      queryKey: ['find', 'applications', { q }],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/applications', { params: { query: { q, size: MOST } }, signal }))).items,
    }),
  /** Own calls of a trace, of the last 30 days. */
  trace: (traceId: string) =>
    queryOptions({
      queryKey: ['find', 'trace', { traceId }],
      queryFn: async ({ signal }) =>
        (
          await unwrap(
            api.GET('/api/calls', { params: { query: { traceId, start: addDays(today(), 1 - TRACE_DAYS), end: today() } }, signal }),
          )
        ).items,
      staleTime: 0,
    }),
};
