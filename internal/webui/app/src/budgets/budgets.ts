import type { Schemas } from '../api/client';

export type Budget = Schemas['Budget'];
export type Period = Schemas['BudgetPeriod'];
export type Draft = Schemas['BudgetDraft'];

/** The periods, in the order they are shown in. */
export const PERIODS: readonly Period[] = ['day', 'week', 'month'];

/** What is told where nobody chose, in percent. */
const USUAL = '50, 80, 100';
const MOST_THRESHOLDS = 5;
const MOST_PERCENT = 1000;

/** A budget's fields as they are typed; no amount is no budget. */
export interface TypedBudget {
  amount: string;
  currency: string;
  action: Budget['action'];
  unknown: Budget['unknown'];
  thresholds: string;
}

/** The form's fields. */
export type Typed = Record<Period, TypedBudget>;

const typedBudget = (budget: Budget | undefined, currency: string): TypedBudget =>
  budget
    ? {
        amount: budget.amount,
        currency: budget.currency,
        action: budget.action,
        unknown: budget.unknown,
        thresholds: budget.thresholds.join(', '),
      }
    : { amount: '', currency, action: 'block', unknown: 'allow', thresholds: USUAL };

/** The budgets of one application, key, owner or capability in the form; `currency` stands where there is none. */
export const typedOf = (budgets: readonly Budget[], currency: string): Typed =>
  Object.fromEntries(
    PERIODS.map((period) => [
      period,
      typedBudget(
        budgets.find((one) => one.period === period),
        currency,
      ),
    ]),
  ) as Typed;

/** An amount as people write it, 1,200.50 too; null for an empty field, undefined for what is none. */
export function parseAmount(text: string): string | null | undefined {
  const digits = text.replace(/[\s,_，]/g, '');
  if (digits === '') return null;
  return /^\d{1,9}(\.\d{1,6})?$/.test(digits) && Number(digits) > 0 ? digits : undefined;
}

export const parseCurrency = (text: string): string | undefined => {
  const code = text.trim().toUpperCase();
  return /^[A-Z]{3}$/.test(code) ? code : undefined;
};

/** Whole percents, at most five; none for an empty field, undefined for what are none. */
export function parsePercents(text: string): number[] | undefined {
  const all = text
    .split(/[\s,;，；、%]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : 0));
  return all.length <= MOST_THRESHOLDS && all.every((n) => n >= 1 && n <= MOST_PERCENT) ? all : undefined;
}

/** The periods of which there is to be a budget. */
export const wanted = (typed: Typed): Period[] => PERIODS.filter((period) => parseAmount(typed[period].amount) !== null);

/** What is typed, as the API takes it. */
export const drafts = (typed: Typed): Draft[] =>
  wanted(typed).map((period) => {
    const { amount, currency, action, unknown, thresholds } = typed[period];
    return {
      period,
      amount: parseAmount(amount) ?? amount,
      currency: parseCurrency(currency) ?? currency,
      action,
      unknown,
      thresholds: parsePercents(thresholds) ?? [],
    };
  });

const fields = ['amount', 'currency', 'action', 'unknown', 'thresholds'] as const;

/** Where the form has what the API names budgets[n].field. */
export const places = (typed: Typed): Record<string, `${Period}.${(typeof fields)[number]}`> =>
  Object.fromEntries(wanted(typed).flatMap((period, n) => fields.map((field) => [`budgets[${n}].${field}`, `${period}.${field}`])));

/** The override that holds now, if one does. */
export const raised = ({ override }: Budget): Budget['override'] => (override?.active ? override : null);

/** The amount that holds now. */
export const holds = (budget: Budget): string => raised(budget)?.amount ?? budget.amount;

const ranks = { over: 0, near: 1, unknown: 2, ok: 3 } as const;

/** Those that are used up first, then those nearly so, each with the fullest first. */
export const byPressure = (budgets: readonly Budget[]): Budget[] =>
  [...budgets].sort((a, b) => ranks[a.state] - ranks[b.state] || (b.percent ?? 0) - (a.percent ?? 0));

/** The budget to show of an application where there is room for one: one of its keys only where it presses more. */
export function pressing(budgets: readonly Budget[], applicationId: string): Budget | undefined {
  const own = budgets.filter((one) => one.applicationId === applicationId);
  const first = byPressure(own)[0];
  return first?.state === 'ok' ? (byPressure(own.filter(({ scope }) => scope === 'application'))[0] ?? first) : first;
}

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

/** 1,200.5: a budget's amount, as it was set. */
export const setAmount = (amount: string): string => exact.format(Number(amount));

/** 42%: cut, so that 100% is not said before it is reached. */
export function percentText(percent: number | null): string {
  if (percent === null) return '—';
  return percent > 0 && percent < 1 ? '< 1%' : `${Math.floor(percent)}%`;
}

/** The currency most calls are priced in. */
export const mostPriced = (costs: readonly Schemas['Cost'][]): string | undefined =>
  [...costs].sort((a, b) => b.pricedCalls - a.pricedCalls).find(({ currency }) => currency !== null)?.currency ?? undefined;
