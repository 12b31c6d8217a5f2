import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, MOST_ROWS, unwrap, type Schemas } from '../api/client';
import { ifUnchanged } from '../api/error';

export type Alert = Schemas['Alert'];
export type Channel = Schemas['AlertChannel'];
export type Delivery = Schemas['AlertDelivery'];

/** Whose alerts a page shows: an owner's, or those of the administrators. */
export type Site = 'own' | 'office';

export const LOG_SIZE = 10;

interface Calls {
  list: (signal: AbortSignal) => Promise<Schemas['AlertItems']>;
  create: (body: Schemas['AlertDraft']) => Promise<Alert>;
  edit: (id: string, updatedAt: string, body: Schemas['AlertEdit']) => Promise<Alert>;
  remove: (id: string) => Promise<unknown>;
  test: (id: string) => Promise<Schemas['AlertDeliveryItems']>;
  log: (id: string, page: number, signal: AbortSignal) => Promise<Schemas['AlertDeliveryPage']>;
  resend: (id: string, deliveryId: string) => Promise<Delivery>;
  secret: (id: string, channelId: string) => Promise<Schemas['WebhookSecret']>;
  rotate: (id: string, channelId: string) => Promise<Schemas['WebhookSecret']>;
}

const header = (updatedAt: string) => ifUnchanged(updatedAt);

/** The operations of each site, which are the same under two addresses. */
export const calls: Record<Site, Calls> = {
  own: {
    list: (signal) => unwrap(api.GET('/api/alerts', { signal })),
    create: (body) => unwrap(api.POST('/api/alerts', { body })),
    edit: (id, updatedAt, body) => unwrap(api.PATCH('/api/alerts/{id}', { params: { path: { id }, header: header(updatedAt) }, body })),
    remove: (id) => unwrap(api.DELETE('/api/alerts/{id}', { params: { path: { id } } })),
    test: (id) => unwrap(api.POST('/api/alerts/{id}/test', { params: { path: { id } } })),
    log: (id, page, signal) =>
      unwrap(api.GET('/api/alerts/{id}/deliveries', { params: { path: { id }, query: { page, size: LOG_SIZE } }, signal })),
    resend: (id, deliveryId) =>
      unwrap(api.POST('/api/alerts/{id}/deliveries/{deliveryId}/resend', { params: { path: { id, deliveryId } } })),
    secret: (id, channelId) => unwrap(api.GET('/api/alerts/{id}/channels/{channelId}/secret', { params: { path: { id, channelId } } })),
    rotate: (id, channelId) =>
      unwrap(
        api.POST('/api/alerts/{id}/channels/{channelId}/rotate-secret', {
          params: { path: { id, channelId } },
          body: { overlapHours: 24 },
        }),
      ),
  },
  office: {
    list: (signal) => unwrap(api.GET('/api/admin/alerts', { signal })),
    create: (body) => unwrap(api.POST('/api/admin/alerts', { body })),
    edit: (id, updatedAt, body) =>
      unwrap(api.PATCH('/api/admin/alerts/{id}', { params: { path: { id }, header: header(updatedAt) }, body })),
    remove: (id) => unwrap(api.DELETE('/api/admin/alerts/{id}', { params: { path: { id } } })),
    test: (id) => unwrap(api.POST('/api/admin/alerts/{id}/test', { params: { path: { id } } })),
    log: (id, page, signal) =>
      unwrap(api.GET('/api/admin/alerts/{id}/deliveries', { params: { path: { id }, query: { page, size: LOG_SIZE } }, signal })),
    resend: (id, deliveryId) =>
      unwrap(api.POST('/api/admin/alerts/{id}/deliveries/{deliveryId}/resend', { params: { path: { id, deliveryId } } })),
    secret: (id, channelId) =>
      unwrap(api.GET('/api/admin/alerts/{id}/channels/{channelId}/secret', { params: { path: { id, channelId } } })),
    rotate: (id, channelId) =>
      unwrap(
        api.POST('/api/admin/alerts/{id}/channels/{channelId}/rotate-secret', {
          params: { path: { id, channelId } },
          body: { overlapHours: 24 },
        }),
      ),
  },
};

export const alertQueries = {
  list: (site: Site) =>
    queryOptions({
      queryKey: ['alerts', 'list', { site }],
      queryFn: ({ signal }) => calls[site].list(signal),
      staleTime: 0,
      refetchInterval: 5_000,
    }),
  log: (site: Site, id: string, page: number) =>
    queryOptions({
      queryKey: ['alerts', 'log', { site, id, page }],
      queryFn: ({ signal }) => calls[site].log(id, page, signal),
      staleTime: 0,
      refetchInterval: 3_000,
      placeholderData: keepPreviousData,
    }),
  /** When an own alert would have fired. */
  past: (body: Schemas['AlertPreviewDraft'] | null) =>
    queryOptions({
      queryKey: ['alert-past', { id: body?.targetId ?? '', body }],
      queryFn: ({ signal }) => unwrap(api.POST('/api/alerts/preview', { body: body!, signal })),
      enabled: body !== null,
      staleTime: 60_000,
    }),
  /** What an alert may watch, by name. */
  targets: (type: Schemas['AlertTarget']['type']) =>
    queryOptions({
      queryKey: ['alerts', 'targets', { type }],
      queryFn: async ({ signal }): Promise<{ id: string; name: string }[]> => {
        const query = { page: 1, size: MOST_ROWS };
        if (type === 'application')
          return (await unwrap(api.GET('/api/applications', { params: { query: { ...query, sort: 'name' } }, signal }))).items;
        if (type === 'capability') return (await unwrap(api.GET('/api/admin/capabilities', { params: { query }, signal }))).items;
        if (type === 'upstream') return (await unwrap(api.GET('/api/admin/upstreams', { signal }))).items;
        return [];
      },
    }),
};

/** Does something with an alert; what is shown of alerts is read again. */
export function useAlertWrite<T, A>(run: (of: A) => Promise<T>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: run, gcTime: 0, onSettled: () => client.invalidateQueries({ queryKey: ['alerts'] }) });
}
