import createClient from 'openapi-fetch';
import { send } from '../session/send';
import type { components, paths } from './schema';

/** Every operation of openapi.yaml, typed. It adds the token, renews it, and throws ApiError. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });

/** Schemas of openapi.yaml by name: `Schemas['Application']`. */
export type Schemas = components['schemas'];

type Envelope<A> = A extends { data?: infer E } ? NonNullable<E> : never;
type Content<E> = E extends { data?: infer D } ? Exclude<D, undefined> : never;

/** What stands in `data` of the envelope: `await unwrap(api.GET('/api/capabilities'))`. */
export async function unwrap<A extends { data?: unknown }>(answer: Promise<A>): Promise<Content<Envelope<A>>> {
  const { data } = await answer;
  return (data as { data: Content<Envelope<A>> }).data;
}
