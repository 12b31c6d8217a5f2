import { queryOptions } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';

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

/** Holds a provider's file against what was counted. */
export const comparisonOf = (month: string, zone: string, file: string): Promise<Comparison> =>
  unwrap(
    api.POST('/api/admin/statistics/reconcile', {
      params: { query: { month, zone } },
      body: file,
      bodySerializer: (text) => text,
      headers: { 'Content-Type': 'text/csv' },
    }),
  );

/** What was counted, what is billed, and the difference. */
type Beside = [ours: number | null, theirs: number | null, difference: number | null];

/** A line of the page, of either answer. */
export interface Row {
  date: string;
  model: string;
  capability: string;
  calls: Beside;
  input: Beside;
  output: Beside;
  cached: Beside;
  cost: { currency: string; ours: string | null; theirs: string | null; difference: string | null }[];
  partial: number;
  absent: number;
  unpriced: number;
}

export function rowsOf(counts: Counts | undefined, comparison: Comparison | undefined): Row[] {
  if (comparison) return comparison.items.map(compared);
  return counts?.items.map(alone) ?? [];
}

const alone = (of: Counts['items'][number]): Row => ({
  date: of.date,
  model: of.upstreamModel,
  capability: of.model,
  calls: [of.calls, null, null],
  input: [of.input, null, null],
  output: [of.output, null, null],
  cached: [of.cached, null, null],
  cost: of.cost.flatMap(({ currency, amount }) => (currency === null ? [] : [{ currency, ours: amount, theirs: null, difference: null }])),
  partial: of.partialCalls,
  absent: of.absentCalls + of.unreadableCalls,
  unpriced: of.cost[0]?.unpricedCalls ?? 0,
});

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
  };
}

/**
 * The rows as CSV, one line a currency, known to be UTF-8 by its byte order mark. What a spreadsheet would work out gets an
 * apostrophe: names are an upstream's.
 */
export function fileOf(rows: readonly Row[]): string {
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
  ];
  const lines = rows.flatMap((row) =>
    (row.cost.length === 0 ? [{ currency: '', ours: null, theirs: null, difference: null }] : row.cost).map(
      ({ currency, ours, theirs, difference }) =>
        [
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
        ]
          .map(cell)
          .join(','),
    ),
  );
  return `\ufeff${[heads.join(','), ...lines].join('\r\n')}\r\n`;
}

const cell = (of: string | number | null): string => {
  const text = of === null ? '' : typeof of === 'number' || DECIMAL.test(of) ? String(of) : harmless(of);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const DECIMAL = /^-?\d+(\.\d+)?$/;
const harmless = (of: string): string => (/^([\t\r\n]|[\p{Z}\p{C}]*[=+\-@＝＋－＠])/u.test(of) ? `'${of}` : of);
