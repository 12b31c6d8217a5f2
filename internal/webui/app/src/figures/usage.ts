import { amountIn, together, usualCurrency } from '../tokens/tokens';
import type { Schemas } from '../api/client';
import { SORTS, type Sort, type Wanted } from './queries';

/** What usage is told by. */
export const BY = ['owners', 'applications', 'capabilities', 'upstreams'] as const;
export type By = (typeof BY)[number];

/** What upstreams can be ordered by: nothing tells their tokens apart. */
const OF_UPSTREAMS: readonly Sort[] = ['calls', 'failures', 'failureRate'];

export const sortsOf = (by: By): readonly Sort[] => (by === 'upstreams' ? OF_UPSTREAMS : SORTS);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What the URL asks for; what it says wrongly is as if it said nothing. */
export function asked(search: URLSearchParams, page: number): Wanted & { by: By } {
  const by = BY.find((one) => one === search.get('by')) ?? 'owners';
  const owner = search.get('owner') ?? '';
  return {
    by,
    page,
    sort: sortsOf(by).find((sort) => sort === search.get('sort')) ?? 'calls',
    q: (search.get('q') ?? '').trim().slice(0, 64),
    owner: by === 'applications' && UUID.test(owner) ? owner : '',
  };
}

type Ordered = Pick<Schemas['MetricsFields'], 'calls' | 'failures'> & Partial<Pick<Schemas['MetricsFields'], 'tokens' | 'cost'>>;

const rate = ({ calls, failures }: Ordered): number => (calls === 0 ? 0 : failures / calls);
const tokens = ({ tokens }: Ordered): number => (tokens ? (together(tokens) ?? 0) : 0);

/** The items with the most of something first; those that stand equal keep their order. */
export function ordered<T>(items: readonly T[], of: (item: T) => Ordered, sort: Sort): T[] {
  const currency = sort === 'cost' ? usualCurrency(items.map(of)) : '';
  const spent = ({ cost }: Ordered): number => amountIn(cost ?? [], currency) ?? 0;
  const compare: Record<Sort, (a: Ordered, b: Ordered) => number> = {
    calls: (a, b) => b.calls - a.calls,
    failures: (a, b) => b.failures - a.failures,
    failureRate: (a, b) => rate(b) - rate(a) || b.failures - a.failures,
    tokens: (a, b) => tokens(b) - tokens(a),
    cost: (a, b) => spent(b) - spent(a),
  };
  return [...items].sort((a, b) => compare[sort](of(a), of(b)));
}
