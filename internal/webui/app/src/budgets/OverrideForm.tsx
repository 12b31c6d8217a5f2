import '../ui/form/field.css';
import './budgets.css';
import { useTranslation } from 'react-i18next';
import { Decide, Form, Input, Area, Refused, useDraft } from '../ui/form/Form';
import { parseAmount, raised, type Budget } from './budgets';
import type { OverrideDraft } from './queries';

interface Typed {
  amount: string;
  /** As a datetime-local field has it, in Beijing. */
  until: string;
  reason: string;
}

const Line = Input<Typed>;
const MOST_REASON = 500;

/** Has another amount hold for a budget, until a time and for a reason. */
export function OverrideForm({
  of: budget,
  name,
  error,
  onSubmit,
  onClose,
}: {
  of: Budget;
  name: string;
  error: unknown;
  onSubmit: (draft: OverrideDraft) => Promise<unknown>;
  onClose: () => void;
}) {
  const { t } = useTranslation('budgets');
  const before = raised(budget);
  const form = useDraft<Typed>({
    amount: before?.amount ?? '',
    until: (before?.until ?? budget.resetsAt).slice(0, 16),
    reason: before?.reason ?? '',
  });
  return (
    <Form
      form={form}
      className="stack limits-form budget-form"
      label={t('raiseOf', { name })}
      onSubmit={({ amount, until, reason }) =>
        onSubmit({ amount: parseAmount(amount) ?? amount, until: until === '' ? '' : `${until}:00+08:00`, reason: reason.trim() })
      }
      onClose={onClose}
    >
      <p className="second limits-about">{t('raiseAbout')}</p>
      <div className="budget-grid">
        <Line
          name="amount"
          label={t('amountOf', { currency: budget.currency })}
          className="input number"
          inputMode="decimal"
          autoFocus
          validate={(text) => (parseAmount(text) == null ? t('amountWrong') : undefined)}
        />
        <Line
          name="until"
          label={t('until')}
          hint={t('untilHint')}
          type="datetime-local"
          validate={(text) => (text === '' ? t('untilMissing') : undefined)}
        />
        <Area<Typed>
          name="reason"
          label={t('reason')}
          hint={t('reasonHint')}
          rows={2}
          maxLength={MOST_REASON}
          validate={(text) => (text.trim() === '' ? t('reasonMissing') : undefined)}
        />
      </div>
      <Refused error={error} changed={false} />
      <Decide action={t('raiseNow')} onClose={onClose} />
    </Form>
  );
}
