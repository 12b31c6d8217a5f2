import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../api/error';
import { lengthOf } from '../../range/days';

/** Tries twice more where the fault passes by itself; every other answer would stay the same. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: (failures, error) => failures < 2 && error instanceof ApiError && error.passing,
        retryDelay: (attempt, error) =>
          error instanceof ApiError && error.retryAfter ? Math.min(error.retryAfter, 5) * 1000 : 500 * 2 ** attempt,
      },
      mutations: { retry: false },
    },
  });
}

/** A range that holds today is never fresh; a closed one changes rarely. */
export const freshness = (holdsToday: boolean): number => (holdsToday ? 0 : 30_000);

/** How often what is of today is asked for again while it is looked at, in ms: figures and call log tell the same. */
const RHYTHM = 3_000;
/** The same for a period of more than a month, of which a few seconds change little and every answer costs much. */
export const SLOW_RHYTHM = 15_000;

export const following = (holdsToday: boolean, start: string, end: string): number | false => {
  if (!holdsToday) return false;
  return lengthOf(start, end) > 31 ? SLOW_RHYTHM : RHYTHM;
};

/**
 * Keeps the old figures on screen while others load, unless they belong to another object: the
 * query key's third element is compared in `id`.
 */
export function keepWithin(id: string) {
  return <T>(previous: T | undefined, query: { readonly queryKey: readonly unknown[] } | undefined): T | undefined =>
    (query?.queryKey[2] as { id?: string } | undefined)?.id === id ? previous : undefined;
}
