import type { Schemas } from '../../api/client';
import { addDays } from '../../range/days';
import { listed, type Meter } from '../../tokens/meters';

export type Price = Schemas['Price'];
export type Suggestion = Schemas['PriceSuggestion'];

/** From how many input tokens on prices differ. */
export const BANDS = [0, 128_000, 200_000, 256_000, 272_000, 1_000_000] as const;
type Band = (typeof BANDS)[number];

/** The form's fields as they are typed; an empty model or tier is any, an empty cached rate is the input's. */
export interface Typed {
  capabilityId: string;
  upstreamModel: string;
  tier: string;
  fromBand: string;
  from: string;
  currency: string;
  input: string;
  cached: string;
  cacheWrite: string;
  output: string;
  amounts: { meter: Meter; amount: string }[];
}

export const RATES = ['input', 'cached', 'cacheWrite', 'output'] as const;

export const fresh = (capabilityId: string, from: string, currency: string, upstreamModel = ''): Typed => ({
  capabilityId,
  upstreamModel,
  tier: '',
  fromBand: '0',
  from,
  currency,
  input: '',
  cached: '',
  cacheWrite: '',
  output: '',
  amounts: [],
});

export const stored = (price: Price): Typed => ({
  capabilityId: price.capabilityId,
  upstreamModel: price.upstreamModel ?? '',
  tier: price.tier ?? '',
  fromBand: String(price.fromBand),
  from: price.from,
  currency: price.currency,
  input: price.input,
  cached: price.cached ?? '',
  cacheWrite: price.cacheWrite ?? '',
  output: price.output,
  amounts: listed(price.amounts),
});

/** What is typed, as the API takes it. */
export function draft(typed: Typed): Schemas['PriceDraft'] {
  const [model, tier, cached, cacheWrite] = [typed.upstreamModel.trim(), typed.tier.trim(), typed.cached.trim(), typed.cacheWrite.trim()];
  return {
    capabilityId: typed.capabilityId.trim(),
    upstreamModel: model || null,
    tier: tier || null,
    fromBand: Number(typed.fromBand) as Band,
    from: typed.from.trim(),
    currency: typed.currency.trim().toUpperCase(),
    input: typed.input.trim(),
    cached: cached || null,
    cacheWrite: cacheWrite || null,
    output: typed.output.trim(),
    amounts: Object.fromEntries(typed.amounts.map(({ meter, amount }) => [meter, amount.trim()])),
  };
}

/** A suggestion's price in the form; what it is for stays as it is. */
export const taken = (typed: Typed, one: Suggestion): Typed => ({
  ...typed,
  fromBand: String(one.fromBand),
  from: one.from ?? typed.from,
  currency: one.currency,
  input: one.input,
  cached: one.cached ?? '',
  cacheWrite: one.cacheWrite ?? '',
  output: one.output,
  amounts: listed(one.amounts),
});

type Subject = Pick<Price, 'capabilityId' | 'upstreamModel' | 'tier' | 'fromBand'>;

/** Whether two prices follow one another: of two of the same day the later replaces the earlier. */
const sameSubject = (a: Subject, b: Subject): boolean =>
  a.capabilityId === b.capabilityId && a.upstreamModel === b.upstreamModel && a.tier === b.tier && a.fromBand === b.fromBand;

/** The price that entering this would replace. */
export function replaced(prices: readonly Price[], typed: Typed): Price | undefined {
  const { capabilityId, upstreamModel = null, tier = null, fromBand = 0, from } = draft(typed);
  return prices.find((price) => sameSubject(price, { capabilityId, upstreamModel, tier, fromBand }) && price.from === from);
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
