import { useTranslation } from 'react-i18next';
import { setAmount, type Budget } from './budgets';

/** Writes budgets in one line. */
export function useBudgetsText(): (budgets: readonly Budget[]) => string {
  const { t } = useTranslation('budgets');
  return (budgets) =>
    budgets
      .map(({ period, amount, currency, action }) =>
        t('text', { period: t(`each.${period}`), amount: setAmount(amount), currency, action: t(`actions.${action}`) }),
      )
      .join(', ') || t('noneAt');
}
