import type { Schemas } from '../api/client';

export type Tokens = Schemas['Tokens'];
export type Cost = Schemas['Cost'];
export type Total = Schemas['CostTotal'];

/** Whether any call reported tokens: only then there is something to show. */
export const reported = (tokens: Tokens): boolean => tokens.input !== null || tokens.output !== null;

/** Input and output together; null where neither was reported. */
export const together = ({ input, output }: Pick<Tokens, 'input' | 'output'>): number | null =>
  input === null && output === null ? null : (input ?? 0) + (output ?? 0);

// From this share on, streams that report no usage are worth a hint.
const WORTH_A_HINT = 0.05;

/** The share of the streams that reported no tokens, as a fraction; null where it is too small to speak of. */
export function unreportedShare(tokens: Tokens): number | null {
  const share = tokens.streamedCalls === 0 ? 0 : tokens.streamedAbsentCalls / tokens.streamedCalls;
  return share >= WORTH_A_HINT ? share : null;
}

/** The sum of the known; null where none is. */
export function add(all: readonly (number | null)[]): number | null {
  const known = all.filter((n) => n !== null);
  return known.length === 0 ? null : known.reduce((sum, n) => sum + n, 0);
}

/** Costs of several parts by currency, added up exactly: amounts are decimals of at most eighteen digits behind the point. */
export function addCosts(all: readonly (readonly Cost[])[]): Cost[] {
  const sums = new Map<string | null, { amount: bigint; pricedCalls: number }>();
  let unpricedCalls = 0;
  for (const costs of all) {
    unpricedCalls += costs[0]?.unpricedCalls ?? 0;
    for (const { amount, currency, pricedCalls } of costs) {
      if (amount === null) continue;
      const sum = sums.get(currency) ?? { amount: 0n, pricedCalls: 0 };
      sums.set(currency, { amount: sum.amount + units(amount), pricedCalls: sum.pricedCalls + pricedCalls });
    }
  }
  if (sums.size === 0) return unpricedCalls === 0 ? [] : [{ amount: null, currency: null, pricedCalls: 0, unpricedCalls }];
  return [...sums].map(([currency, { amount, pricedCalls }]) => ({ amount: decimal(amount), currency, pricedCalls, unpricedCalls }));
}

const DIGITS = 18;

function units(amount: string): bigint {
  const [whole = '0', rest = ''] = amount.split('.');
  return BigInt(whole + rest.padEnd(DIGITS, '0'));
}

function decimal(amount: bigint): string {
  const text = amount.toString().padStart(DIGITS + 1, '0');
  return `${text.slice(0, -DIGITS)}.${text.slice(-DIGITS)}`;
}

const decimals = (least: number, most: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: least, maximumFractionDigits: most });
const [small, middle, large] = [decimals(2, 4), decimals(2, 2), decimals(0, 0)];

/** 12.35: two decimals, four below 1, none from 10,000 on; what would round to nothing is < 0.0001. */
export function amount({ amount }: Pick<Cost, 'amount'>): string {
  if (amount === null) return '—';
  const n = Number(amount);
  if (n > 0 && n < 0.0001) return '< 0.0001';
  return (n < 1 ? small : n < 10_000 ? middle : large).format(n);
}

/** USD 12.35 */
export const money = (cost: Pick<Cost, 'amount' | 'currency'>): string => (cost.amount === null ? '—' : `${cost.currency} ${amount(cost)}`);

/** The currency in which most calls of all are priced, as the server chooses it; '' where none is. */
export function usualCurrency(items: readonly { cost?: readonly Cost[] }[]): string {
  const calls = new Map<string, number>();
  for (const { cost } of items)
    for (const one of cost ?? [])
      if (one.amount !== null && one.currency !== null) calls.set(one.currency, (calls.get(one.currency) ?? 0) + one.pricedCalls);
  return [...calls].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0] ?? '';
}

/** What calls cost in a currency; null where none of them is priced in it. */
export function amountIn(cost: readonly Cost[], currency: string): number | null {
  const amount = cost.find((one) => one.currency === currency)?.amount ?? null;
  return amount === null ? null : Number(amount);
}
