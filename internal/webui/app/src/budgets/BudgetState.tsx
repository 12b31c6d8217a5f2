import { useTranslation } from 'react-i18next';
import { Tag } from '../ui/Tag';
import type { Budget } from './budgets';

const kinds = { ok: 'ok', near: 'warn', over: 'failed', unknown: 'off' } as const;

/** How far a budget is used, as icon, word and colour; of one that blocks also that it does. */
export function BudgetState({ of: { state, action } }: { of: Budget }) {
  const { t } = useTranslation('budgets');
  return <Tag kind={kinds[state]}>{t(state === 'over' && action === 'block' ? 'blocks' : `states.${state}`)}</Tag>;
}
