import { useTranslation } from 'react-i18next';
import { AskButton } from '../ui/AskButton';
import { notify } from '../ui/page/notice';
import { raised, type Budget } from './budgets';

/** Raises a budget for a time, and ends that. */
export function BudgetActions({
  of: budget,
  name,
  onRaise,
  onEnd,
}: {
  of: Budget;
  name: string;
  onRaise: (opener: HTMLElement) => void;
  onEnd: (budget: Budget) => Promise<unknown>;
}) {
  const { t } = useTranslation('budgets');
  return (
    <>
      <button
        type="button"
        className="quiet"
        data-edge
        aria-label={t('raiseOf', { name })}
        onClick={({ currentTarget }) => onRaise(currentTarget)}
      >
        {t('raise')}
      </button>
      {raised(budget) && (
        <AskButton
          of={t('endOf', { name })}
          title={t('endAsk', { name })}
          text={t('endText')}
          action={t('end')}
          run={async () => {
            await onEnd(budget);
            notify('ok', t('ended', { name }));
          }}
        />
      )}
    </>
  );
}
