import type { Schemas } from '../api/client';
import type { Section } from './search';

export type Price = Schemas['CapabilityPrice'];
type Usage = Pick<Schemas['ModelMetrics'], 'model' | 'calls' | 'successes' | 'p95Ms'>;

/** A capability with what people choose by. */
export interface Offer {
  capability: Schemas['Capability'];
  group: string;
  /** Of the own calls; null: not known. */
  calls: number | null;
  successes: number;
  p95Ms: number | null;
}

/** A group's capabilities with the figures of each; null: they are not known. */
export const offersOf = (section: Section<Schemas['Capability']>, figures: readonly Usage[] | null): Offer[] =>
  section.items.map((capability) => {
    const usage = figures?.find(({ model }) => model === capability.id);
    return {
      capability,
      group: section.name,
      calls: usage?.calls ?? (figures === null ? null : 0),
      successes: usage?.successes ?? 0,
      p95Ms: usage?.p95Ms ?? null,
    };
  });

/** Whether there is more to say of what a capability costs than its two prices. */
export const costsMore = ({ price, otherPrices, costBelieved }: Schemas['CapabilityOffer']): boolean =>
  otherPrices > 0 ||
  costBelieved ||
  (price !== null && (price.cached !== null || price.cacheWrite !== null || Object.keys(price.amounts).length > 0));

/** The currency that most prices are in, and of those alike the first by its code; '' without any. */
export function usualOf(offers: readonly Offer[]): string {
  const times = new Map<string, number>();
  for (const { capability } of offers)
    if (capability.price) times.set(capability.price.currency, (times.get(capability.price.currency) ?? 0) + 1);
  return [...times].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0] ?? '';
}

/** What an offer is ordered by: prices of one currency, for those of others are neither more nor less. */
export const rateIn = ({ capability: { price } }: Offer, currency: string, of: 'input' | 'output'): number | null =>
  price?.currency === currency ? Number(price[of]) : null;
