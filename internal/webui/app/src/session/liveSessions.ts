import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { ApiError } from '../api/error';

/** A sign-in that has not ended, here or elsewhere. */
export type LiveSession = Schemas['Session'];

export const sessionQueries = {
  /** Where somebody is signed in, this browser first, then the last used. */
  list: () =>
    queryOptions({
      queryKey: ['sessions', 'list', {}],
      queryFn: async ({ signal }) => {
        const { items } = await unwrap(api.GET('/api/auth/sessions', { signal }));
        return items.sort((one, other) => Number(other.current) - Number(one.current));
      },
      staleTime: 0,
    }),
};

/** Ends one session; that it was over already is as good. */
async function end(id: string): Promise<void> {
  try {
    await unwrap(api.DELETE('/api/auth/sessions/{id}', { params: { path: { id } } }));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Ends one session, or, with `others`, all but this one, also those that began since the list was read. */
export function useEnd() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (which: LiveSession | 'others') => {
      if (which !== 'others') return end(which.id);
      const live = await client.fetchQuery(sessionQueries.list());
      for (const { id, current } of live) if (!current) await end(id);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  });
}
