import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client';
import { changedMeanwhile } from '../../api/error';
import { BudgetFields } from '../../budgets/BudgetFields';
import { drafts, places, typedOf, type Budget, type Typed as Fields } from '../../budgets/budgets';
import { useBudgetsText } from '../../budgets/useBudgetsText';
import { Decide, Form, Input, Notice, Refused, Select, useDraft, useTyped } from '../../ui/form/Form';
import { notify } from '../../ui/page/notice';
import { changedAt, officeBudgetQueries, usePutBudgets, type Aim } from './budgetQueries';
import { CapabilityField } from './CapabilityField';

type Typed = Fields & { scope: Aim['scope']; owner: string; capabilityId: string };
type Items = Schemas['BudgetItems'];

const aimOf = ({ scope, owner, capabilityId }: Typed): Aim => ({ scope, target: scope === 'owner' ? owner : capabilityId });

/** Sets the budgets of an owner or a capability: of `aim`, whose `budgets` are known, or of one that is typed. */
export function BudgetsForm({
  aim,
  budgets,
  currency,
  onClose,
}: {
  aim: Aim | null;
  budgets: readonly Budget[];
  currency: string;
  onClose: () => void;
}) {
  const { t } = useTranslation(['admin', 'budgets']);
  const put = usePutBudgets();
  const form = useDraft<Typed>(
    {
      ...typedOf(budgets, currency),
      scope: aim?.scope ?? 'owner',
      owner: aim?.scope === 'owner' ? aim.target : '',
      capabilityId: aim?.scope === 'capability' ? aim.target : '',
    },
    { mode: 'onChange' },
  );
  const typed = useTyped(form);
  const { scope, target } = aimOf(typed);
  const named = target.trim() !== '';
  const locked = aim !== null;
  const { data: there = [] } = useQuery({ ...officeBudgetQueries.of({ scope, target }), enabled: !locked && named });
  const [read, setRead] = useState(locked ? changedAt(budgets) : null); // when what is known was changed last
  const theirs = changedMeanwhile<Items>(put.error);
  const shown = useBudgetsText();
  const submit = (now: Typed) =>
    put.mutateAsync(
      {
        body: { scope, ...(scope === 'owner' ? { owner: now.owner } : { capabilityId: now.capabilityId.trim() }), budgets: drafts(now) },
        updatedAt: read ?? changedAt(there),
      },
      {
        onSuccess: () => {
          notify('ok', t('budgets.saved'));
          onClose();
        },
        onError: (error) => setRead((last) => (changedMeanwhile<Items>(error) ? changedAt(changedMeanwhile<Items>(error)!.items) : last)),
      },
    );
  /** It is somebody else's budgets that are meant now. */
  const again = () => {
    if (locked) return;
    form.clearErrors();
    setRead(null);
    put.reset();
  };
  return (
    <Form
      form={form}
      className="block stack budget-form office-form"
      label={aim ? t('budgets.editOf', { name: aim.target }) : t('budgets.add')}
      at={places(typed)}
      onSubmit={submit}
      onChange={({ target }) => {
        if (target instanceof HTMLElement && target.closest('[data-aim]')) again();
      }}
      onClose={onClose}
    >
      <div className="budget-grid" data-aim>
        <Select<Typed> name="scope" label={t('budgets.scope')} disabled={locked} autoFocus={!locked}>
          {(['owner', 'capability'] as const).map((one) => (
            <option key={one} value={one}>
              {t(`budgets.whose.${one}`)}
            </option>
          ))}
        </Select>
        {scope === 'owner' ? (
          <Input<Typed>
            name="owner"
            label={t('budgets.owner')}
            hint={t('budgets.ownerHint')}
            className="input mono"
            readOnly={locked}
            spellCheck={false}
          />
        ) : (
          <div className="field">
            <CapabilityField id={typed.capabilityId} locked={locked} />
          </div>
        )}
      </div>
      <BudgetFields />
      {!locked && there.length > 0 && !theirs && <Notice role="status">{t('budgets.replaces', { old: shown(there) })}</Notice>}
      <Refused error={put.error} changed={theirs !== undefined && t('budgets:changed', { theirs: shown(theirs.items) })} />
      <Decide action={t('limits.save')} ready={named} onClose={onClose} />
    </Form>
  );
}
