import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { changedMeanwhile } from '../api/error';
import { Decide, Form, Refused, useDraft, useTyped } from '../ui/form/Form';
import { notify } from '../ui/page/notice';
import { BudgetFields } from './BudgetFields';
import { drafts, places, typedOf, type Budget, type Typed } from './budgets';
import { putBudgets, useBudgetWrite } from './queries';
import { useBudgetsText } from './useBudgetsText';

/** Sets the budgets of an application, or of one of its keys; what somebody else changed meanwhile is told before it is replaced. */
export function BudgetsForm({
  applicationId,
  keyId,
  name,
  budgets,
  updatedAt,
  currency,
  onClose,
}: {
  applicationId: string;
  keyId: string | null;
  name: string;
  budgets: readonly Budget[];
  updatedAt: string;
  currency: string;
  onClose: () => void;
}) {
  const { t } = useTranslation(['budgets', 'common']);
  const [read, setRead] = useState(updatedAt); // when what is known was changed last
  const form = useDraft<Typed>(typedOf(budgets, currency), { mode: 'onChange' });
  const typed = useTyped(form);
  const save = useBudgetWrite((now: Typed) => putBudgets(applicationId, keyId, drafts(now), read));
  const theirs = changedMeanwhile<Schemas['BudgetItems']>(save.error);
  const shown = useBudgetsText();
  const submit = (now: Typed) =>
    save.mutateAsync(now, {
      onSuccess: () => {
        notify('ok', t('saved', { name }));
        onClose();
      },
      onError: (error) => setRead((last) => changedMeanwhile<Schemas['BudgetItems']>(error)?.updatedAt ?? last),
    });
  return (
    <Form
      form={form}
      className="stack limits-form budget-form"
      label={t('editOf', { name })}
      at={places(typed)}
      onSubmit={submit}
      onChange={() => !theirs && save.reset()}
      onClose={onClose}
    >
      <BudgetFields />
      <Refused
        error={save.error}
        changed={theirs !== undefined && t('changed', { theirs: shown(theirs.items.filter((one) => one.keyId === keyId)) })}
      />
      <Decide action={t('common:action.save')} onClose={onClose} />
    </Form>
  );
}
