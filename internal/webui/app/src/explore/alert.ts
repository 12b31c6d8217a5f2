import { USUAL, type Kind, type Typed } from '../alerts/draft';
import type { Exploration } from './queries';
import { NARROWING, type Metric, type Question } from './question';

const KINDS: Partial<Record<Metric, Kind>> = { failureRate: 'failureRate', p95: 'p95', tokens: 'tokens', cost: 'cost', calls: 'noCalls' };

/** An alert as a question suggests it: what was usual, in the unit of its threshold, and how the threshold came of it. */
export interface Watch {
  typed: Pick<Typed, 'kind' | 'targetId' | 'threshold' | 'currency'>;
  /** Of the application, where the answer has it. */
  name: string | null;
  rule: 'half' | 'perDay' | 'tenfold' | null;
  usual: number;
}

/** Why a question makes no alert: its metric is not watched, nor part of an application's calls, nor more than one application. */
export type Unfit = 'metric' | 'narrowed' | 'application';

/**
 * The alert that a question about a number of days suggests: of the application it is narrowed to, or of the first that it is grouped by. Half above what is usual, a day's for what
 * adds up; no calls for ten times what is usual between two, from 5 minutes to a day.
 */
export function watchOf({ metric, by, only }: Question, answer: Exploration, days: number): Watch | Unfit {
  const kind = KINDS[metric];
  if (kind === undefined) return 'metric';
  if (NARROWING.console.some((name) => name !== 'application' && only[name] !== undefined)) return 'narrowed';
  const row = by === 'application' ? answer.items[0] : undefined;
  const targetId = only.application ?? row?.group;
  if (targetId === undefined) return 'application';
  const value = Number((row ?? answer.total).value ?? 0);
  const usual = kind === 'failureRate' ? value * 100 : kind === 'noCalls' ? (days * 1440) / value : kind === 'p95' ? value : value / days;
  const named = { typed: { kind, targetId, threshold: USUAL[kind], currency: answer.currency ?? '' }, name: row?.name ?? null };
  if (!(usual > 0) || !Number.isFinite(usual)) return { ...named, rule: null, usual: 0 };
  const fine = kind === 'failureRate' || kind === 'cost'; // may have a fraction
  const raised = up(usual * (kind === 'noCalls' ? 10 : 1.5));
  const [least, most] = kind === 'failureRate' ? [1, 100] : kind === 'noCalls' ? [5, 1440] : kind === 'cost' ? [0, 1e15] : [1, 1e15];
  return {
    ...named,
    typed: { ...named.typed, threshold: String(Math.min(most, Math.max(least, fine ? raised : Math.ceil(raised)))) },
    rule: kind === 'noCalls' ? 'tenfold' : kind === 'tokens' || kind === 'cost' ? 'perDay' : 'half',
    usual,
  };
}

/** The next number above that has two digits. */
function up(n: number): number {
  const unit = 10 ** (Math.floor(Math.log10(n)) - 1);
  return Number((Math.ceil(n / unit - 1e-9) * unit).toPrecision(2));
}
