import { useMutation, useMutationState, useQueryClient, type Mutation } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { ApiError, changedMeanwhile, ifUnchanged } from '../api/error';
import { inOrder, newestOf, storeOrder } from './catalog/order';
import { officeQueries, type Capability, type Filter, type Group, type Listed, type Status } from './queries';

/** What a change of the catalog makes old. */
function useRefresh() {
  const client = useQueryClient();
  return (...features: ('groups' | 'capabilities' | 'prices' | 'limits' | 'spools' | 'upstreams' | 'directory' | 'users')[]) =>
    Promise.all([...features, 'audit'].map((feature) => client.invalidateQueries({ queryKey: [feature] })));
}

interface Placed {
  id: string;
  sortOrder: number;
  updatedAt: string;
}

/** An order, and the list that was ordered as the server had told it. */
export interface Order<T> {
  ids: string[];
  read: readonly T[];
}

/**
 * Stores the orders of a list one after the other. `shown` is the list in the order that is to come:
 * what the server tells is kept apart from it, so that nothing is to be taken back where one fails.
 */
function useOrder<T extends Placed>(
  mutationKey: ['groups' | 'capabilities', 'order', string],
  read: readonly T[],
  put: (ids: string[], newest: string) => Promise<T[]>,
  onStored: (items: T[]) => void,
) {
  const client = useQueryClient();
  const refresh = useRefresh();
  const ofList = <R>(status: 'pending' | 'success' | 'error', select: (order: Mutation<T[], Error, Order<T>>) => R) =>
    client
      .getMutationCache()
      .findAll({ mutationKey, status })
      .map((order) => select(order as Mutation<T[], Error, Order<T>>));
  const { mutateAsync } = useMutation({
    mutationKey,
    scope: { id: mutationKey.join('/') },
    mutationFn: ({ ids, read }: Order<T>) => {
      const stored = ofList('success', ({ state }) => state.data!).at(-1) ?? [];
      // An order whose answer was lost may be stored all the same.
      const lost = ofList('error', ({ state }) => state.variables!.ids);
      return storeOrder(ids, newestOf(stored) > newestOf(read) ? stored : read, lost, put);
    },
    onSuccess: onStored,
    onSettled: () => {
      if (client.isMutating({ mutationKey }) === 1) void refresh(mutationKey[0]);
    },
  });
  const coming = useMutationState({
    filters: { mutationKey, status: 'pending' },
    select: ({ state }) => (state.variables as Order<T>).ids,
  }).at(-1);
  return { shown: coming ? inOrder(read, coming) : read, store: mutateAsync };
}

/** Puts groups into an order: shown at once, as it was when it fails. */
export function useOrderGroups(groups: readonly Group[]) {
  const client = useQueryClient();
  return useOrder(
    ['groups', 'order', ''],
    groups,
    async (ids, newest) =>
      (await unwrap(api.PUT('/api/admin/groups/order', { params: { header: ifUnchanged(newest) }, body: { ids } }))).items,
    (items) => client.setQueryData(officeQueries.groups().queryKey, items),
  );
}

/** Puts the capabilities of a group into an order, as useOrderGroups does. */
export function useOrderCapabilities(filter: Filter, capabilities: readonly Capability[]) {
  const client = useQueryClient();
  const { groupId } = filter;
  return useOrder(
    ['capabilities', 'order', groupId],
    capabilities,
    async (ids, newest) =>
      (await unwrap(api.PUT('/api/admin/capabilities/order', { params: { header: ifUnchanged(newest) }, body: { groupId, ids } }))).items,
    (items) => client.setQueryData(officeQueries.capabilities(filter).queryKey, (page) => page && { ...page, items }),
  );
}

export function useRenameGroup() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ id, name, updatedAt }: { id: string; name: string; updatedAt: string }) =>
      unwrap(api.PATCH('/api/admin/groups/{id}', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body: { name } })),
    onSettled: () => refresh('groups'),
  });
}

export function useCreateGroup() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (body: Schemas['GroupDraft']) => unwrap(api.POST('/api/admin/groups', { body })),
    onSuccess: () => refresh('groups'),
  });
}

/** Switches a capability on or off: shown at once, taken back when it fails. */
export function useSetStatus() {
  const client = useQueryClient();
  const refresh = useRefresh();
  const lists = { queryKey: ['capabilities', 'list'] };
  return useMutation({
    mutationFn: async ({
      id,
      status,
      endRunning,
      updatedAt,
    }: {
      id: string;
      status: Status;
      /** Calls that run are ended, too. */
      endRunning: boolean;
      updatedAt: string;
    }): Promise<Capability> => {
      const body = { status, ...(endRunning ? { endRunning } : {}) };
      const set = (read: string) =>
        unwrap(api.PATCH('/api/admin/capabilities/{id}/status', { params: { path: { id }, header: ifUnchanged(read) }, body }));
      try {
        return await set(updatedAt);
      } catch (error) {
        // Of two states each is the other's change: either it is done already, or something else was edited.
        const current = changedMeanwhile<Capability>(error);
        if (!current) throw error;
        return current.status === status && !endRunning ? current : set(current.updatedAt);
      }
    },
    onMutate: async ({ id, status }) => {
      await client.cancelQueries(lists);
      const before = client.getQueriesData<Schemas['AdminCapabilityPage']>(lists);
      client.setQueriesData<Schemas['AdminCapabilityPage']>(
        lists,
        (page) => page && { ...page, items: page.items.map((item) => (item.id === id ? { ...item, status } : item)) },
      );
      return { before };
    },
    onError: (_error, _change, context) => context?.before.forEach(([key, page]) => client.setQueryData(key, page)),
    onSettled: () => refresh('capabilities'),
  });
}

/** Creates or edits a capability. The upstream key is in the request and nowhere else. */
export function useSave(id: string | null) {
  const client = useQueryClient();
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ body, updatedAt }: { body: Schemas['CapabilityEdit']; updatedAt: string }) =>
      id === null
        ? unwrap(api.POST('/api/admin/capabilities', { body: body as Schemas['CapabilityDraft'] }))
        : unwrap(api.PATCH('/api/admin/capabilities/{id}', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body })),
    gcTime: 0, // the variables hold the key
    onError: (error) => {
      const current = changedMeanwhile<Capability>(error);
      if (current) client.setQueryData(officeQueries.capability(current.id).queryKey, current);
    },
    onSuccess: (saved) => {
      client.setQueryData(officeQueries.capability(saved.id).queryKey, saved);
      return refresh('capabilities', 'upstreams');
    },
  });
}

/** Creates or edits an upstream. Its key is in the request and nowhere else. */
export function useSaveUpstream(id: string | null) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ body, updatedAt }: { body: Schemas['UpstreamEdit']; updatedAt: string }) =>
      id === null
        ? unwrap(api.POST('/api/admin/upstreams', { body: body as Schemas['UpstreamDraft'] }))
        : unwrap(api.PATCH('/api/admin/upstreams/{id}', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body })),
    gcTime: 0, // the variables hold the key
    onSettled: () => refresh('upstreams'),
  });
}

export function useCheckUpstream() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.POST('/api/admin/upstreams/{id}/check', { params: { path: { id } }, body: {} })),
    onSuccess: () => refresh(),
  });
}

export function useRestoreKey() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.POST('/api/admin/upstreams/{id}/restore-key', { params: { path: { id } } })),
    onSettled: () => refresh('upstreams'),
  });
}

export function useDeleteUpstream() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/admin/upstreams/{id}', { params: { path: { id } } })),
    onSettled: () => refresh('upstreams'),
  });
}

/** Enters a price, or corrects one whose `updatedAt` is given. */
export function usePutPrice() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ body, updatedAt }: { body: Schemas['PriceDraft']; updatedAt: string | undefined }) =>
      unwrap(api.PUT('/api/admin/prices', { params: { header: updatedAt === undefined ? {} : ifUnchanged(updatedAt) }, body })),
    onSettled: () => refresh('prices'),
  });
}

/** Enters a rate, or corrects one whose `updatedAt` is given. */
export function usePutRate() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ body, updatedAt }: { body: Schemas['ExchangeDraft']; updatedAt: string | undefined }) =>
      unwrap(api.PUT('/api/admin/rates', { params: { header: updatedAt === undefined ? {} : ifUnchanged(updatedAt) }, body })),
    onSettled: () => refresh('prices'),
  });
}

export function useSetBelieved() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (body: Schemas['BelievedEdit']) => unwrap(api.POST('/api/admin/prices/believed', { body })),
    onSettled: () => refresh('prices'),
  });
}

export function useDeleteRate() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/admin/rates/{id}', { params: { path: { id } } })),
    onSettled: () => refresh('prices'),
  });
}

export function useDeletePrice() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/admin/prices/{id}', { params: { path: { id } } })),
    onSettled: () => refresh('prices'),
  });
}

/** Sets a ceiling in place of the one there was, which was read at `updatedAt`. */
export function usePutCeiling() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ body, updatedAt }: { body: Schemas['CeilingDraft']; updatedAt: string | undefined }) =>
      unwrap(api.PUT('/api/admin/limits', { params: { header: updatedAt === undefined ? {} : ifUnchanged(updatedAt) }, body })),
    onSettled: () => refresh('limits'),
  });
}

/** Disables an application with a reason, or takes that back. */
export function useJudge() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ id, body, updatedAt }: { id: string; body: Schemas['JudgementEdit']; updatedAt: string }) =>
      unwrap(api.PATCH('/api/admin/applications/{id}/status', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body })),
    onSettled: () => refresh('directory'),
  });
}

const move = ({ id, body, updatedAt }: { id: string; body: Schemas['OwnerEdit']; updatedAt: string }) =>
  unwrap(api.PATCH('/api/admin/applications/{id}/owner', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body }));

/** Gives applications to another owner one after the other; one that fails by itself does not hold up the others. */
export function useMoveAll() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: async ({ of, body, onMoved }: { of: readonly Listed[]; body: Schemas['OwnerEdit']; onMoved: () => void }) => {
      const done: Listed[] = [];
      const failed = new Map<string, unknown>();
      for (const { id, updatedAt } of of) {
        try {
          done.push(await move({ id, body, updatedAt }));
          onMoved();
        } catch (error) {
          failed.set(id, error);
          if (!(error instanceof ApiError && [404, 409].includes(error.status))) break; // so would the others
        }
      }
      return { done, failed };
    },
    onSettled: () => refresh('directory', 'users', 'limits'),
  });
}

/** Gives an application to another owner. */
export function useMove() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: move,
    onSettled: () => refresh('directory', 'users', 'limits'),
  });
}

/** Ends every session of a user. */
export function useEndSessions() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/admin/users/{id}/sessions', { params: { path: { id } } })),
    onSettled: () => refresh('users'),
  });
}

/** Gives up a spool; it stays in the list for a while. */
export function useRetire() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.POST('/api/admin/spools/{id}/retire', { params: { path: { id } } })),
    onSettled: () => refresh('spools'),
  });
}

export function useCheck() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (body: Schemas['CheckRequest']) => unwrap(api.POST('/api/admin/capabilities/check', { body })),
    gcTime: 0,
    onSuccess: () => refresh(),
  });
}
