import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, MOST_ROWS, unwrap, type Schemas } from '../api/client';
import { addDays, today } from '../range/days';
import { auditQuery, type AuditFilter } from './operations/auditFilter';
import type { AskPage } from '../ui/table/saveCsv';

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

/** Whether a list is a group and nothing else: it is read whole, so that it can be ordered. */
export const orderable = ({ groupId, status, q }: Filter): boolean => groupId !== '' && status === '' && q === '';

export interface Paged {
  page: number;
  size: number;
}

/** A page of each list. */
export const lists = {
  capabilities: (query: Partial<Filter> & Paged, signal?: AbortSignal) =>
    unwrap(api.GET('/api/admin/capabilities', { params: { query }, signal })),
  ceilings: (query: CeilingFilter & Paged, signal?: AbortSignal) => unwrap(api.GET('/api/admin/limits', { params: { query }, signal })),
  applications: (query: DirectoryFilter & Paged, signal?: AbortSignal) =>
    unwrap(api.GET('/api/admin/applications', { params: { query }, signal })),
  users: (query: { q: string } & Paged, signal?: AbortSignal) => unwrap(api.GET('/api/admin/users', { params: { query }, signal })),
  spools: (query: Paged, signal?: AbortSignal) => unwrap(api.GET('/api/admin/spools', { params: { query }, signal })),
};

/** All of a list, as it is saved: in pages of as many rows as an answer has. */
export const wholeOf =
  <F extends object>(list: (query: F & Paged) => ReturnType<AskPage>, filter: F): AskPage =>
  (page) =>
    list({ ...filter, page, size: MOST_ROWS });

/** All capabilities of a group in their order, as one page. */
async function wholeGroup(groupId: string, signal: AbortSignal): Promise<Schemas['AdminCapabilityPage']> {
  const read = (page: number) => lists.capabilities({ groupId, page, size: MOST_ROWS }, signal);
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

export interface CeilingFilter {
  scope: '' | Ceiling['scope'];
  q: string;
}

export interface DirectoryFilter {
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
        orderable(filter) ? wholeGroup(filter.groupId, signal) : lists.capabilities({ ...filter, size: LIST_SIZE }, signal),
      placeholderData: keepPreviousData,
    }),
  /** How many capabilities a group has. */
  size: (groupId: string) =>
    queryOptions({
      queryKey: ['capabilities', 'size', { groupId }],
      queryFn: async ({ signal }) => (await lists.capabilities({ groupId, page: 1, size: 1 }, signal)).total,
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
  ceilings: (filter: CeilingFilter & { page: number }) =>
    queryOptions({
      queryKey: ['limits', 'list', filter],
      queryFn: ({ signal }) => lists.ceilings({ ...filter, size: CEILINGS_SIZE }, signal),
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
  applications: (filter: DirectoryFilter & { page: number }) =>
    queryOptions({
      queryKey: ['directory', 'list', filter],
      queryFn: ({ signal }) => lists.applications({ ...filter, size: DIRECTORY_SIZE }, signal),
      staleTime: 0,
      placeholderData: keepPreviousData,
    }),
  /** All applications of a user, by name. */
  ofOwner: ({ id, email }: { id: string; email: string }) =>
    queryOptions({
      queryKey: ['directory', 'ofOwner', { id }],
      queryFn: async ({ signal }) => {
        const found: Listed[] = [];
        for (let page = 1, pages = 1; page <= pages; page++) {
          const { items, total } = await lists.applications(
            { q: email.slice(0, 64), status: '', sort: 'name', page, size: MOST_ROWS },
            signal,
          );
          found.push(...items.filter(({ owner }) => owner.id === id)); // others may have it in a name
          pages = Math.ceil(total / MOST_ROWS);
        }
        return found;
      },
      staleTime: 0,
    }),
  users: (filter: { page: number; q: string }) =>
    queryOptions({
      queryKey: ['users', 'list', filter],
      queryFn: ({ signal }) => lists.users({ ...filter, size: USERS_SIZE }, signal),
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
      queryFn: ({ signal }) => lists.spools({ page, size: SPOOLS_SIZE }, signal),
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
