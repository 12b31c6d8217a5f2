import { keepPreviousData, queryOptions, useMutation, useMutationState, useQueryClient, type Mutation } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { changedMeanwhile, ifUnchanged } from '../api/error';
import { addDays, today } from '../range/days';
import { auditQuery, type AuditFilter } from './operations/auditFilter';
import type { BudgetFilter } from './money/budgetQueries';
import { inOrder, newestOf, storeOrder } from './catalog/order';

export type Capability = Schemas['AdminCapability'];
export type Group = Schemas['Group'];
export type Ceiling = Schemas['Ceiling'];
export type Spool = Schemas['Spool'];
export type NamedUpstream = Schemas['Upstream'];
export type Status = Schemas['CapabilityStatus'];

export interface Filter {
  page: number;
  groupId: string;
  status: '' | Status;
  q: string;
}

/** Rows of a list. */
export const LIST_SIZE = 50;
export const MOST_ROWS = 100; // in one answer

/** Whether a list is a group and nothing else: it is read whole, so that it can be ordered. */
export const orderable = ({ groupId, status, q }: Filter): boolean => groupId !== '' && status === '' && q === '';

/** All capabilities of a group in their order, as one page. */
async function wholeGroup(groupId: string, signal: AbortSignal): Promise<Schemas['AdminCapabilityPage']> {
  const read = (page: number) =>
    unwrap(api.GET('/api/admin/capabilities', { params: { query: { groupId, page, size: MOST_ROWS } }, signal }));
  const first = await read(1);
  const rest = await Promise.all(Array.from({ length: Math.ceil(first.total / MOST_ROWS) - 1 }, (_, n) => read(n + 2)));
  const items = [first, ...rest].flatMap((page) => page.items);
  return { items, total: items.length, page: 1, size: items.length };
}
export const AUDIT_SIZE = 20;
export const SPOOLS_SIZE = 20;
export const CEILINGS_SIZE = 20;
export const DIRECTORY_SIZE = 20;
export const USERS_SIZE = 20;

/** Days that a trace is looked for in. */
export const TRACED_DAYS = 30;

export type Listed = Schemas['ListedApplication'];
export type Account = Schemas['UserAccount'];

export interface DirectoryFilter {
  page: number;
  q: string;
  status: '' | 'active' | 'disabled' | 'disabledByAdministrator';
  sort: '' | 'name' | 'owner';
}

export const officeQueries = {
  groups: () =>
    queryOptions({
      queryKey: ['groups', 'list', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/admin/groups', { signal }))).items,
    }),
  capabilities: (filter: Filter) =>
    queryOptions({
      queryKey: ['capabilities', 'list', filter],
      queryFn: ({ signal }) =>
        orderable(filter)
          ? wholeGroup(filter.groupId, signal)
          : unwrap(api.GET('/api/admin/capabilities', { params: { query: { ...filter, size: LIST_SIZE } }, signal })),
      placeholderData: keepPreviousData,
    }),
  /** How many capabilities a group has. */
  size: (groupId: string) =>
    queryOptions({
      queryKey: ['capabilities', 'size', { groupId }],
      queryFn: async ({ signal }) =>
        (await unwrap(api.GET('/api/admin/capabilities', { params: { query: { groupId, size: 1 } }, signal }))).total,
    }),
  capability: (id: string) =>
    queryOptions({
      queryKey: ['capabilities', 'get', { id }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/capabilities/{id}', { params: { path: { id } }, signal })),
      staleTime: 0,
    }),
  prices: () =>
    queryOptions({
      queryKey: ['prices', 'list', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/admin/prices', { signal }))).items,
      staleTime: 0,
    }),
  believed: () =>
    queryOptions({
      queryKey: ['prices', 'believed', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/admin/prices/believed', { signal }))).items,
    }),

  rates: () =>
    queryOptions({
      queryKey: ['prices', 'rates', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/admin/rates', { signal }))).items,
      staleTime: 0,
    }),
  unpriced: () =>
    queryOptions({
      queryKey: ['prices', 'unpriced', {}],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/prices/unpriced', { signal })),
      staleTime: 0,
    }),
  /** Public prices of a capability's upstream model, or of the model that is named. */
  suggestions: (capability: string, upstreamModel: string) =>
    queryOptions({
      queryKey: ['suggestions', 'list', { capability, upstreamModel }],
      queryFn: ({ signal }) =>
        unwrap(api.GET('/api/admin/prices/suggestions', { params: { query: { capability, upstreamModel } }, signal })),
      placeholderData: keepPreviousData,
    }),
  ceilings: (filter: { page: number; scope: '' | Ceiling['scope']; q: string }) =>
    queryOptions({
      queryKey: ['limits', 'list', filter],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/limits', { params: { query: { ...filter, size: CEILINGS_SIZE } }, signal })),
      staleTime: 0,
      placeholderData: keepPreviousData,
    }),
  audit: (page: number, filter: AuditFilter) =>
    queryOptions({
      queryKey: ['audit', 'list', { page, filter }],
      queryFn: ({ signal }) =>
        unwrap(api.GET('/api/admin/audit', { params: { query: { page, size: AUDIT_SIZE, ...auditQuery(filter) } }, signal })),
      staleTime: 0,
      placeholderData: keepPreviousData,
    }),
  applications: (filter: DirectoryFilter) =>
    queryOptions({
      queryKey: ['directory', 'list', filter],
      queryFn: ({ signal }) =>
        unwrap(api.GET('/api/admin/applications', { params: { query: { ...filter, size: DIRECTORY_SIZE } }, signal })),
      staleTime: 0,
      placeholderData: keepPreviousData,
    }),
  users: (filter: { page: number; q: string }) =>
    queryOptions({
      queryKey: ['users', 'list', filter],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/users', { params: { query: { ...filter, size: USERS_SIZE } }, signal })),
      staleTime: 0,
      placeholderData: keepPreviousData,
    }),
  call: (callId: string) =>
    queryOptions({
      queryKey: ['calls', 'get', { callId }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/calls/{callId}', { params: { path: { callId } }, signal })),
    }),
  trace: (traceId: string) =>
    queryOptions({
      queryKey: ['calls', 'trace', { traceId }],
      queryFn: ({ signal }) =>
        unwrap(
          api.GET('/api/admin/calls', { params: { query: { traceId, start: addDays(today(), 1 - TRACED_DAYS), end: today() } }, signal }),
        ),
      staleTime: 0,
    }),
  spools: (page: number) =>
    queryOptions({
      queryKey: ['spools', 'list', { page }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/spools', { params: { query: { page, size: SPOOLS_SIZE } }, signal })),
      staleTime: 0,
      refetchInterval: 5_000,
      placeholderData: keepPreviousData,
    }),
  days: () =>
    queryOptions({
      queryKey: ['spools', 'days', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/admin/days', { signal }))).items,
      staleTime: 0,
      refetchInterval: 15_000,
    }),
};

/** Pages of lists as they are saved: of as many rows as an answer has. */
export const officePages = {
  capabilities: (filter: Omit<Filter, 'page'>) => (page: number) =>
    unwrap(api.GET('/api/admin/capabilities', { params: { query: { ...filter, page, size: MOST_ROWS } } })),
  ceilings: (filter: { scope: '' | Ceiling['scope']; q: string }) => (page: number) =>
    unwrap(api.GET('/api/admin/limits', { params: { query: { ...filter, page, size: MOST_ROWS } } })),
  applications: (filter: Omit<DirectoryFilter, 'page'>) => (page: number) =>
    unwrap(api.GET('/api/admin/applications', { params: { query: { ...filter, page, size: MOST_ROWS } } })),
  users: (q: string) => (page: number) => unwrap(api.GET('/api/admin/users', { params: { query: { q, page, size: MOST_ROWS } } })),
  spools: (page: number) => unwrap(api.GET('/api/admin/spools', { params: { query: { page, size: MOST_ROWS } } })),
  budgets: (filter: Omit<BudgetFilter, 'page'>) => (page: number) =>
    unwrap(api.GET('/api/admin/budgets', { params: { query: { ...filter, page, size: MOST_ROWS } } })),
  uncovered: (page: number) => unwrap(api.GET('/api/admin/budgets/uncovered', { params: { query: { page, size: MOST_ROWS } } })),
};

export const upstreamQueries = {
  upstreams: () =>
    queryOptions({
      queryKey: ['upstreams', 'list', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/admin/upstreams', { signal }))).items,
      staleTime: 0,
      refetchInterval: 5_000,
    }),
  figures: () =>
    queryOptions({
      queryKey: ['upstreams', 'figures', {}],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/statistics/upstreams', { signal })),
      staleTime: 0,
      refetchInterval: 30_000,
    }),
};

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

/** Gives an application to another owner. */
export function useMove() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ id, body, updatedAt }: { id: string; body: Schemas['OwnerEdit']; updatedAt: string }) =>
      unwrap(api.PATCH('/api/admin/applications/{id}/owner', { params: { path: { id }, header: ifUnchanged(updatedAt) }, body })),
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
