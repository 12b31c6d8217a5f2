import './budgets.css';
import { useTranslation } from 'react-i18next';
import { amount as cost } from '../tokens/tokens';
import { BudgetState } from './BudgetState';
import { holds, setAmount, type Budget } from './budgets';

/** 84.31 of 200 USD this month; what is not well with a word. Beside a key's name, `bare`, it does not name the key. */
export function BudgetLine({ of: budget, bare = false }: { of: Budget; bare?: boolean }) {
  const { t } = useTranslation('budgets');
  const { period, currency, spent, state, keyName } = budget;
  return (
    <span className="budget-line" title={spent === null ? undefined : `${spent} ${currency}`}>
      {!bare && budget.scope === 'key' && `${t('ofKey', { name: keyName || t('firstKey') })}: `}
      <span className="number">
        {t(`line.${period}`, { spent: cost({ amount: spent }), amount: setAmount(holds(budget)), currency })}
      </span>{' '}
      {state !== 'ok' && <BudgetState of={budget} />}
    </span>
  );
}
