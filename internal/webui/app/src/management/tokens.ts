import { useMemo } from 'react';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { ApiError } from '../api/error';

export type ManagementToken = Schemas['ManagementToken'];

/** For how many days a token may be made; no more than the last. */
export const LIFETIMES = ['30', '90', '366'] as const;

/** The form's fields as they are typed. */
export interface Typed {
  name: string;
  access: ManagementToken['access'];
  days: (typeof LIFETIMES)[number];
}

export const fresh: Typed = { name: '', access: 'read', days: '90' };

const HOUR = 3_600_000;

/** When a token that is made now ends: on a whole hour, one that is not refused where this clock is some minutes fast. */
export const endOf = (days: Typed['days'], now: number): string =>
  new Date(Math.floor((now + Number(days) * 24 * HOUR) / HOUR - 0.5) * HOUR).toISOString();

/** A question that the token may ask, for a shell that has it in CALLGATE_TOKEN. */
export const curlOf = (base: string): string =>
  `curl '${base}/api/statistics/applications/overview' \\\n  -H "Authorization: Bearer $CALLGATE_TOKEN"`;

export const tokenQueries = {
  list: () =>
    queryOptions({
      queryKey: ['management', 'list', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/tokens', { signal }))).items,
      staleTime: 0,
    }),
};

export function useTokenWrites() {
  const client = useQueryClient();
  return useMemo(() => {
    const refresh = () => client.invalidateQueries({ queryKey: ['management'] });
    return {
      /** The answer holds the token, so no cache may keep it. */
      create: async ({ name, access, days }: Typed): Promise<Schemas['NewManagementToken']> => {
        const made = await unwrap(api.POST('/api/tokens', { body: { name: name.trim(), access, expiresAt: endOf(days, Date.now()) } }));
        void refresh();
        return made;
      },

      /** That it is revoked already is as good. */
      revoke: async (id: string): Promise<void> => {
        try {
          await unwrap(api.DELETE('/api/tokens/{id}', { params: { path: { id } } }));
        } catch (error) {
          if (!(error instanceof ApiError && error.status === 404)) throw error;
        }
        await refresh();
      },
    };
  }, [client]);
}
