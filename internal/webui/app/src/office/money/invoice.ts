import { queryOptions } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../../api/client';
import { METERS, type Meter } from '../../tokens/meters';
import { sheetOf } from '../../ui/table/csv';

type Counts = Schemas['InvoiceCounts'];
type Comparison = Schemas['InvoiceComparison'];

/** The zones of the days of providers' invoices. */
export const ZONES = ['UTC', 'Asia/Shanghai', 'America/Los_Angeles'] as const;

export const invoiceQueries = {
  counted: (month: string, zone: string) =>
    queryOptions({
      queryKey: ['invoice', 'counted', { month, zone }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/admin/statistics/reconcile', { params: { query: { month, zone } }, signal })),
      staleTime: 0,
    }),
};

/** Holds a provider's file against what was counted. It goes as it is: what is not UTF-8 is for the product to tell. */
export const comparisonOf = (month: string, zone: string, file: Blob): Promise<Comparison> =>
  unwrap(
    api.POST('/api/admin/statistics/reconcile', {
      params: { query: { month, zone } },
      body: '',
      bodySerializer: () => file,
      headers: { 'Content-Type': 'text/csv' },
    }),
  );

/** What was counted, what is billed, and the difference. */
type Beside = [ours: number | null, theirs: number | null, difference: number | null];

/** What calls can be the reason of a difference; of what was counted alone, what makes it lower than it may be. */
export type Reason = Schemas['InvoiceReason']['reason'];

/** Meters besides input, output and cached. */
export type OtherMeter = 'cache_write' | Meter;
const OTHERS: readonly OtherMeter[] = ['cache_write', ...(Object.keys(METERS) as Meter[])];

/** What a line of the page says, or all of them together. */
export interface Sums {
  calls: Beside;
  input: Beside;
  output: Beside;
  cached: Beside;
  cost: { currency: string; ours: string | null; theirs: string | null; difference: string | null }[];
  meters: { meter: OtherMeter; of: Beside }[];
  why: Schemas['InvoiceReason'][];
  /** Something differs for which there is no reason. */
  unexplained: boolean;
  partial: number;
  absent: number;
  unpriced: number;
}

/** A line of the page, of either answer. */
export interface Row extends Sums {
  date: string;
  model: string;
  capability: string;
}

export const COUNTS = ['calls', 'input', 'output', 'cached'] as const;

/** Whether the two sides say different things. What one side does not tell is no difference; a cost in its own currency is. */
export const differs = (of: Sums): boolean =>
  COUNTS.some((name) => (of[name][2] ?? 0) !== 0) ||
  of.meters.some(({ of }) => (of[2] ?? 0) !== 0) ||
  of.cost.some(({ ours, theirs, difference }) => !zero(difference ?? (theirs === null ? null : (ours ?? theirs))));

const zero = (amount: string | null): boolean => amount === null || Number(amount) === 0;

/** All lines together. A number that one of them lacks is of the others; the difference is that of the lines that have one. */
export function totalOf(rows: readonly Row[]): Sums {
  const all3 = (beside: readonly Beside[]): Beside =>
    [0, 1, 2].map((side) => {
      const known = beside.flatMap((of) => of[side] ?? []);
      return known.length === 0 ? null : known.reduce((sum, n) => sum + n, 0);
    }) as Beside;
  const count = (name: (typeof COUNTS)[number]): Beside => all3(rows.map((row) => row[name]));
  const cost = (currency: string, side: 'ours' | 'theirs' | 'difference') =>
    added(rows.flatMap((row) => row.cost.find((one) => one.currency === currency)?.[side] ?? []));
  const all = (name: 'partial' | 'absent' | 'unpriced') => rows.reduce((sum, row) => sum + row[name], 0);
  return {
    calls: count('calls'),
    input: count('input'),
    output: count('output'),
    cached: count('cached'),
    cost: [...new Set(rows.flatMap((row) => row.cost.map(({ currency }) => currency)))].sort().map((currency) => ({
      currency,
      ours: cost(currency, 'ours'),
      theirs: cost(currency, 'theirs'),
      difference: cost(currency, 'difference'),
    })),
    meters: metersOf((meter) => all3(rows.flatMap((row) => row.meters.filter((one) => one.meter === meter).map(({ of }) => of)))),
    why: [...new Set(rows.flatMap((row) => row.why.map(({ reason }) => reason)))].map((reason) => ({
      reason,
      calls: rows.reduce((sum, row) => sum + (row.why.find((one) => one.reason === reason)?.calls ?? 0), 0),
    })),
    unexplained: rows.some((row) => row.unexplained),
    partial: all('partial'),
    absent: all('absent'),
    unpriced: all('unpriced'),
  };
}

/** Those of which there is anything. */
const metersOf = (of: (meter: OtherMeter) => Beside): Sums['meters'] =>
  OTHERS.map((meter) => ({ meter, of: of(meter) })).filter(({ of }) => of.some((n) => n !== null && n !== 0));

/** Decimals added up exactly, however many digits they have. */
function added(amounts: readonly string[]): string | null {
  if (amounts.length === 0) return null;
  const digits = Math.max(...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
  const sum = amounts.reduce((sum, amount) => {
    const [whole = '0', rest = ''] = amount.split('.');
    return sum + BigInt(whole + rest.padEnd(digits, '0'));
  }, 0n);
  const text = (sum < 0n ? -sum : sum).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const rest = text.slice(text.length - digits).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}

const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const four = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

/** 1,412.53: an amount rounded for reading, to two decimals, or to four digits below 1. */
export function rounded(amount: string | null): string {
  if (amount === null) return '—';
  const n = Math.abs(Number(amount));
  if (n === 0) return '0';
  return `${amount.startsWith('-') ? '−' : ''}${(n < 1 ? four : cents).format(n)}`;
}

export function rowsOf(counts: Counts | undefined, comparison: Comparison | undefined): Row[] {
  if (comparison) return comparison.items.map(compared);
  return counts?.items.map(alone) ?? [];
}

const alone = (of: Counts['items'][number]): Row => {
  const meters: Record<string, number> = { ...of.meters, cache_write: of.cacheWrite, reasoning: of.reasoning };
  const low: Row['why'] = [
    { reason: 'partial', calls: of.partialCalls },
    { reason: 'absent', calls: of.absentCalls + of.unreadableCalls },
    { reason: 'unpriced', calls: of.cost[0]?.unpricedCalls ?? 0 },
  ];
  return {
    date: of.date,
    model: of.upstreamModel,
    capability: of.model,
    calls: [of.calls, null, null],
    input: [of.input, null, null],
    output: [of.output, null, null],
    cached: [of.cached, null, null],
    cost: of.cost.flatMap(({ currency, amount }) =>
      currency === null ? [] : [{ currency, ours: amount, theirs: null, difference: null }],
    ),
    partial: of.partialCalls,
    absent: of.absentCalls + of.unreadableCalls,
    unpriced: of.cost[0]?.unpricedCalls ?? 0,
    meters: metersOf((meter) => [meters[meter] ?? null, null, null]),
    why: low.filter(({ calls }) => calls > 0),
    unexplained: false,
  };
};

function compared({ counted, billed, difference, ...of }: Comparison['items'][number]): Row {
  const beside = (name: 'calls' | 'input' | 'output' | 'cached'): Beside => [counted[name], billed[name], difference[name]];
  const amount = (side: Schemas['InvoiceSums'], currency: string) => side.cost.find((one) => one.currency === currency)?.amount ?? null;
  const currencies = [...new Set([...counted.cost, ...billed.cost].map(({ currency }) => currency))].sort();
  return {
    date: of.date,
    model: of.model,
    capability: of.capabilityIds.join(', '),
    calls: beside('calls'),
    input: beside('input'),
    output: beside('output'),
    cached: beside('cached'),
    cost: currencies.map((currency) => ({
      currency,
      ours: amount(counted, currency),
      theirs: amount(billed, currency),
      difference: amount(difference, currency),
    })),
    partial: of.partialCalls,
    absent: of.absentCalls,
    unpriced: of.unpricedCalls,
    meters: metersOf((meter) => [counted.meters[meter] ?? null, billed.meters[meter] ?? null, difference.meters[meter] ?? null]),
    why: of.reasons,
    unexplained: of.unexplained,
  };
}

/** The rows as CSV, one line a currency. */
export function fileOf(rows: readonly Row[]): string {
  const meters = OTHERS.filter((meter) => rows.some((row) => row.meters.some((one) => one.meter === meter)));
  const heads = [
    'date',
    'model',
    'capability',
    ...['calls', 'input_tokens', 'output_tokens', 'cached_tokens'].flatMap((name) => [
      `${name}_counted`,
      `${name}_billed`,
      `${name}_difference`,
    ]),
    'currency',
    'cost_counted',
    'cost_billed',
    'cost_difference',
    'partial_calls',
    'absent_calls',
    'unpriced_calls',
    'reasons',
    'unexplained',
    ...meters.flatMap((name) => [`${name}_counted`, `${name}_billed`, `${name}_difference`]),
  ];
  const lines = rows.flatMap((row) =>
    (row.cost.length === 0 ? [{ currency: '', ours: null, theirs: null, difference: null }] : row.cost).map(
      ({ currency, ours, theirs, difference }) => [
        row.date,
        row.model,
        row.capability,
        ...row.calls,
        ...row.input,
        ...row.output,
        ...row.cached,
        currency,
        ours,
        theirs,
        difference,
        row.partial,
        row.absent,
        row.unpriced,
        row.why.map(({ reason, calls }) => `${reason} ${calls}`).join('; '),
        row.unexplained,
        ...meters.flatMap((meter) => row.meters.find((one) => one.meter === meter)?.of ?? [null, null, null]),
      ],
    ),
  );
  return sheetOf(heads, lines);
}
