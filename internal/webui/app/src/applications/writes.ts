import { useMemo } from 'react';
import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { ifUnchanged } from '../api/error';
import { applicationQueries } from './queries';
import { withStatus, type Status } from './status';

// Everything that shows applications, their states or their bindings.
const shown = ['applications', 'overview', 'capabilities', 'calls'];

function refresh(client: QueryClient): void {
  for (const feature of shown) void client.invalidateQueries({ queryKey: [feature] });
}

function took(client: QueryClient, application: Schemas['Application']): void {
  client.setQueryData(applicationQueries.get(application.id).queryKey, application);
  refresh(client);
}

const writes = (client: QueryClient) => ({
  /** The answer holds the Access Key, so no cache may keep it; neither may a mutation. */
  create: async (draft: Schemas['ApplicationDraft']): Promise<Schemas['NewApplication']> => {
    const created = await unwrap(api.POST('/api/applications', { body: draft }));
    refresh(client);
    return created;
  },

  /** Only where nobody has changed it since it was read at `updatedAt`. */
  update: async (id: string, edit: Schemas['ApplicationEdit'], updatedAt: string): Promise<Schemas['Application']> => {
    const application = await unwrap(
      api.PATCH('/api/applications/{id}', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body: edit }),
    );
    took(client, application);
    return application;
  },

  /** Only where nobody has changed the application since it was read at `updatedAt`; null removes a limit. */
  setLimits: async (id: string, edit: Schemas['LimitsEdit'], updatedAt: string): Promise<Schemas['Application']> => {
    const application = await unwrap(
      api.PATCH('/api/applications/{id}/limits', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body: edit }),
    );
    took(client, application);
    return application;
  },

  bind: async (id: string, capabilityId: string): Promise<void> => {
    await unwrap(api.PATCH('/api/applications/{id}/capabilities/{capabilityId}', { params: { path: { id, capabilityId } } }));
    refresh(client);
  },

  /** Seen at once; taken back where the server refuses. */
  setStatus: async (id: string, status: Status): Promise<void> => {
    await client.cancelQueries({ queryKey: ['applications'] });
    const before = client.getQueriesData({ queryKey: ['applications'] });
    client.setQueriesData({ queryKey: ['applications'] }, (answer: unknown) => withStatus(answer, id, status));
    try {
      took(client, await unwrap(api.PATCH('/api/applications/{id}/status', { params: { path: { id } }, body: { status } })));
    } catch (error) {
      for (const [key, answer] of before) client.setQueryData(key, answer);
      refresh(client);
      throw error;
    }
  },

  remove: async (id: string): Promise<void> => {
    await api.DELETE('/api/applications/{id}', { params: { path: { id } } });
    // What is known of it is of no use any more, and asking again would be a 404.
    const ofIt = (query: Query) => (query.queryKey[2] as { id?: string } | undefined)?.id === id;
    void client.invalidateQueries({ predicate: ofIt, refetchType: 'none' });
    for (const feature of shown) void client.invalidateQueries({ queryKey: [feature], predicate: (query) => !ofIt(query) });
  },

  reveal: async (id: string): Promise<string> =>
    (await unwrap(api.GET('/api/applications/{id}/access-key', { params: { path: { id } } }))).accessKey,

  /** The old key stays valid for `overlapHours`. */
  rotate: async (id: string, overlapHours: number): Promise<string> => {
    const { accessKey } = await unwrap(
      api.POST('/api/applications/{id}/access-key/rotate', { params: { path: { id } }, body: { overlapHours } }),
    );
    refresh(client);
    return accessKey;
  },

  revealKey: async (id: string, keyId: string): Promise<string> =>
    (await unwrap(api.GET('/api/applications/{id}/keys/{keyId}/secret', { params: { path: { id, keyId } } }))).accessKey,

  /** The answer holds the key, so no cache may keep it. */
  createKey: async (id: string, draft: Schemas['KeyDraft']): Promise<Schemas['NewKey']> => {
    const made = await unwrap(api.POST('/api/applications/{id}/keys', { params: { path: { id } }, body: draft }));
    refresh(client);
    return made;
  },

  /** Only where nobody has changed it since it was read at `updatedAt`. */
  updateKey: async (id: string, keyId: string, edit: Schemas['KeyEdit'], updatedAt: string): Promise<void> => {
    await unwrap(
      api.PATCH('/api/applications/{id}/keys/{keyId}', { params: { path: { id, keyId }, header: ifUnchanged(updatedAt) }, body: edit }),
    );
    refresh(client);
  },

  removeKey: async (id: string, keyId: string): Promise<void> => {
    await api.DELETE('/api/applications/{id}/keys/{keyId}', { params: { path: { id, keyId } } });
    refresh(client);
  },
});

/** What can be done to applications. Each throws ApiError; what is on screen follows. */
export function useWrites() {
  const client = useQueryClient();
  return useMemo(() => writes(client), [client]);
}
