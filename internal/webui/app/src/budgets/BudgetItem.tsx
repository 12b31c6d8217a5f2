import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { amount as cost } from '../tokens/tokens';
import { BudgetState } from './BudgetState';
import { holds, percentText, raised, setAmount, type Budget } from './budgets';

const bars = { ok: 'ok', near: 'near', over: 'reached', unknown: 'unknown' } as const;

/** How much of a budget is spent, what that comes to, and what happens then; `name` says whose it is. */
export function BudgetItem({ of: budget, name, children }: { of: Budget; name?: ReactNode; children?: ReactNode }) {
  const { t } = useTranslation('budgets');
  const format = useFormat();
  const { period, currency, spent, left, percent, unknownCalls, state, forecast, thresholds } = budget;
  const over = raised(budget);
  const title = t(`periods.${period}`);
  const numbers = t('of', { spent: cost({ amount: spent }), amount: setAmount(holds(budget)), currency });
  const span = t('resets', { time: format.time(budget.resetsAt).slice(0, 16) });
  return (
    <li>
      <div className="limit-head">
        <span className="budget-name">
          {name} {title}
        </span>
        <BudgetState of={budget} />
        <strong className="number" title={spent === null ? undefined : `${spent} ${currency}`}>
          {numbers}
        </strong>
      </div>
      <div
        className="limit-bar"
        data-state={bars[state]}
        role="meter"
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.floor(percent ?? 0))}
        aria-valuetext={numbers}
      >
        <div style={{ width: `${Math.min(100, percent ?? 0)}%` }} />
      </div>
      <p className="meta">
        {left === null
          ? `${t('states.unknown')} · ${span}`
          : `${percentText(percent)} · ${t('left', { left: cost({ amount: left }), currency })} · ${span}`}
      </p>
      {forecast && state !== 'over' && Number(forecast.amount) > 0 && (
        <p className="meta">
          {forecast.usedUpOn === null ? t('byTheEnd', { amount: cost(forecast), currency }) : t('usedUpOn', { day: forecast.usedUpOn })}
        </p>
      )}
      {unknownCalls !== null && unknownCalls > 0 && (
        <p className="meta budget-unknown" title={t('unknownWhy')}>
          {t('unknownCalls', { n: format.count(unknownCalls) })}
        </p>
      )}
      <p className="meta">
        {[
          t(`then.${budget.action}`),
          ...(budget.unknown === 'block' ? [t('refusesUnknown')] : []),
          thresholds.length === 0 ? t('untold') : t('told', { percents: thresholds.join(', ') }),
        ].join(' · ')}
      </p>
      {over && (
        <p className="meta budget-raised">
          {t('raised', {
            amount: setAmount(budget.amount),
            until: format.time(over.until).slice(0, 16),
            by: over.by,
            currency,
            reason: over.reason,
          })}
        </p>
      )}
      {children}
    </li>
  );
}
