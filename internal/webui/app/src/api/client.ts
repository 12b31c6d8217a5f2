import createClient from 'openapi-fetch';
import { send } from '../session/send';
import type { components, paths } from './schema';

/** Every operation of openapi.yaml, typed. It adds the token, renews it, and throws ApiError. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });

/** Rows of a list that an answer has at most. */
export const MOST_ROWS = 100;

/** Schemas of openapi.yaml by name: `Schemas['Application']`. */
export type Schemas = components['schemas'];

type Envelope<A> = A extends { data?: infer E } ? NonNullable<E> : never;
type Content<E> = E extends { data?: infer D } ? Exclude<D, undefined> : never;

/** An answer that knows when it was given, in ms by the server's clock: the browser's may be wrong; and when it came, by the browser's. */
export type Dated<T> = T & { answeredAt: number; receivedAt: number };

/** Like unwrap, with the time of the answer. */
export async function dated<A extends { data?: unknown; response: Response }>(answer: Promise<A>): Promise<Dated<Content<Envelope<A>>>> {
  const at = Date.parse((await answer).response.headers.get('Date') ?? '');
  const data = (await unwrap(answer)) as object;
  return { ...data, answeredAt: Number.isNaN(at) ? Date.now() : at, receivedAt: Date.now() } as Dated<Content<Envelope<A>>>;
}

/** What stands in `data` of the envelope: `await unwrap(api.GET('/api/capabilities'))`. */
export async function unwrap<A extends { data?: unknown }>(answer: Promise<A>): Promise<Content<Envelope<A>>> {
  const { data } = await answer;
  return (data as { data: Content<Envelope<A>> }).data;
}
