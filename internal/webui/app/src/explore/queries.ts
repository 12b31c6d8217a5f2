import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { addDays } from '../range/days';
import { freshness } from '../ui/page/queries';
import { asked, type GROUPS, type Question } from './question';

export type Exploration = Schemas['Exploration'];
export type Item = Schemas['ExploredGroup'];

type Days = { start: string; end: string };

/** One day is told by hour, up to a quarter by day, more by week. */
const intervalOf = ({ start, end }: Days) =>
  start === end ? ('hour' as const) : end < addDays(start, 92) ? ('day' as const) : ('week' as const);

/** What is asked of the office's API: of its groups there is no tag. */
export const officeQuery = (question: Question, { start, end }: Days) => ({
  ...asked(question),
  groupBy: question.by as (typeof GROUPS)['office'][number],
  start,
  end,
  interval: intervalOf({ start, end }),
});

export const exploreQueries = {
  /** The answer; asked again each minute while its range is not over. */
  ask: (question: Question, { start, end }: Days, holdsToday: boolean) =>
    queryOptions({
      queryKey: ['explore', { ...question, start, end }],
      queryFn: ({ signal }) =>
        unwrap(
          question.site === 'office'
            ? api.GET('/api/admin/statistics/explore', { params: { query: officeQuery(question, { start, end }) }, signal })
            : api.GET('/api/statistics/explore', {
                params: { query: { ...asked(question), start, end, interval: intervalOf({ start, end }) } },
                signal,
              }),
        ),
      staleTime: freshness(holdsToday),
      refetchInterval: holdsToday ? 60_000 : false,
      placeholderData: keepPreviousData,
    }),
};

/** Where the same answer is as CSV. */
export function csvPath(question: Question, { start, end }: Days): string {
  const query = new URLSearchParams({ start, end, interval: intervalOf({ start, end }) });
  for (const [name, value] of Object.entries(asked(question))) query.set(name, String(value));
  return `/api/statistics/explore.csv?${query}`;
}
