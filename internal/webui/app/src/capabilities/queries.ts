import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { overviewQueries } from '../overview/queries';
import { today } from '../range/days';
import { presetOf } from '../range/range';

const bindings = (id: string) => ['capabilities', 'applications', { id }] as const;

export const capabilityQueries = {
  /** The enabled capabilities, in the order of the catalog. */
  list: () =>
    queryOptions({
      queryKey: ['capabilities', 'list', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/capabilities', { signal }))).items,
    }),
  /** What the own applications called in the last 7 days, by capability; asked again each minute. */
  figures: () => ({ ...overviewQueries.get(presetOf('7d', today()), true), refetchInterval: 60_000 }),
  groups: () =>
    queryOptions({
      queryKey: ['capabilities', 'groups', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/capabilities/groups', { signal }))).items,
    }),
  /** One capability, a disabled one too. */
  get: (id: string) =>
    queryOptions({
      queryKey: ['capabilities', 'get', { id }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/capabilities/{id}', { params: { path: { id } }, signal })),
    }),
  /** All own applications, and to which of them the capability is bound. */
  applications: (id: string) =>
    queryOptions({
      queryKey: bindings(id),
      queryFn: async ({ signal }) =>
        (await unwrap(api.GET('/api/capabilities/{id}/applications', { params: { path: { id } }, signal }))).items,
    }),
};

/** Binds the capability to an application; shown at once, taken back when it fails. */
export function useBind(capabilityId: string) {
  const client = useQueryClient();
  const key = bindings(capabilityId);
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(api.PATCH('/api/applications/{id}/capabilities/{capabilityId}', { params: { path: { id, capabilityId } } })),
    onMutate: async (id) => {
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData<Schemas['Binding'][]>(key);
      client.setQueryData<Schemas['Binding'][]>(key, (items) => items?.map((item) => (item.id === id ? { ...item, bound: true } : item)));
      return { before };
    },
    onError: (_error, _id, context) => client.setQueryData(key, context?.before),
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: key }), client.invalidateQueries({ queryKey: ['applications'] })]),
  });
}

/** Switches an application on again, from where its capability is tried. */
export function useEnable(capabilityId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(api.PATCH('/api/applications/{id}/status', { params: { path: { id } }, body: { status: 'active' } })),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: bindings(capabilityId) }),
        client.invalidateQueries({ queryKey: ['applications'] }),
        client.invalidateQueries({ queryKey: ['overview'] }),
      ]),
  });
}
