import type { Schemas } from '../api/client';
import { addDays } from '../range/days';

export type Price = Schemas['Price'];
export type Suggestion = Schemas['PriceSuggestion'];

/** The form's fields as they are typed; an empty model is any, an empty cached rate is the input's. */
export interface Typed {
  capabilityId: string;
  upstreamModel: string;
  from: string;
  currency: string;
  input: string;
  cached: string;
  cacheWrite: string;
  output: string;
}

export const RATES = ['input', 'cached', 'cacheWrite', 'output'] as const;

export const fresh = (capabilityId: string, from: string, currency: string, upstreamModel = ''): Typed => ({
  capabilityId,
  upstreamModel,
  from,
  currency,
  input: '',
  cached: '',
  cacheWrite: '',
  output: '',
});

export const stored = (price: Price): Typed => ({
  capabilityId: price.capabilityId,
  upstreamModel: price.upstreamModel ?? '',
  from: price.from,
  currency: price.currency,
  input: price.input,
  cached: price.cached ?? '',
  cacheWrite: price.cacheWrite ?? '',
  output: price.output,
});

/** What is typed, as the API takes it. */
export function draft(typed: Typed): Schemas['PriceDraft'] {
  const [model, cached, cacheWrite] = [typed.upstreamModel.trim(), typed.cached.trim(), typed.cacheWrite.trim()];
  return {
    capabilityId: typed.capabilityId.trim(),
    upstreamModel: model || null,
    from: typed.from.trim(),
    currency: typed.currency.trim().toUpperCase(),
    input: typed.input.trim(),
    cached: cached || null,
    cacheWrite: cacheWrite || null,
    output: typed.output.trim(),
  };
}

/** A suggestion's price in the form; what it is for stays as it is. */
export const taken = (typed: Typed, one: Suggestion): Typed => ({
  ...typed,
  from: one.from ?? typed.from,
  currency: one.currency,
  input: one.input,
  cached: one.cached ?? '',
  cacheWrite: one.cacheWrite ?? '',
  output: one.output,
});

/** Whether two prices follow one another: of two of the same day the later replaces the earlier. */
const sameSubject = (a: Pick<Price, 'capabilityId' | 'upstreamModel'>, b: Pick<Price, 'capabilityId' | 'upstreamModel'>): boolean =>
  a.capabilityId === b.capabilityId && a.upstreamModel === b.upstreamModel;

/** The price that entering this would replace. */
export function replaced(prices: readonly Price[], typed: Typed): Price | undefined {
  const now = draft(typed);
  return prices.find(
    (price) => sameSubject(price, { capabilityId: now.capabilityId, upstreamModel: now.upstreamModel ?? null }) && price.from === now.from,
  );
}

export interface Held {
  price: Price;
  /** The last day it holds on; null: no other follows. */
  until: string | null;
  state: 'now' | 'past' | 'coming';
}

/** When each price holds; they come as the API lists them, each history newest first. */
export function histories(prices: readonly Price[], today: string): Held[] {
  return prices.map((price, n) => {
    const next = prices[n - 1];
    const until = next && sameSubject(next, price) ? addDays(next.from, -1) : null;
    const state = price.from > today ? 'coming' : until !== null && until < today ? 'past' : 'now';
    return { price, until, state };
  });
}
