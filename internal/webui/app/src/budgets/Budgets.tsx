import '../limits/limits.css';
import './budgets.css';
import { lazy, Suspense, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { applicationQueries } from '../applications/queries';
import { overviewQueries } from '../overview/queries';
import { today } from '../range/days';
import { presetOf } from '../range/range';
import { Bones } from '../ui/page/Block';
import { notify } from '../ui/page/notice';
import { BudgetActions } from './BudgetActions';
import { BudgetItem } from './BudgetItem';
import { mostPriced, type Budget } from './budgets';
import { endRaise, raise, useBudgetWrite, type OverrideDraft } from './queries';

const BudgetsForm = lazy(() => import('./BudgetsForm').then((m) => ({ default: m.BudgetsForm })));
const OverrideForm = lazy(() => import('./OverrideForm').then((m) => ({ default: m.OverrideForm })));

/** Where no call had a price yet. */
const USUAL_CURRENCY = 'USD';

/** The currency that an application's calls cost in, else those of all own ones; null while it is asked for. */
function useCurrency(applicationId: string, enabled: boolean): string | null {
  const range = presetOf('30d', today());
  const own = useQuery({ ...applicationQueries.statistics(applicationId, range, true), enabled, refetchInterval: false });
  const all = useQuery({ ...overviewQueries.get(range, true), enabled, refetchInterval: false });
  if (own.isPending || all.isPending) return null;
  return mostPriced(own.data?.summary.cost ?? []) ?? mostPriced(all.data?.cost ?? []) ?? USUAL_CURRENCY;
}

/** The budgets of an application, or of one of its keys, and what can be done with them. */
export function Budgets({
  applicationId,
  keyId,
  name,
  answer,
  editing,
  onEdited,
}: {
  applicationId: string;
  keyId: string | null;
  name: string;
  answer: Schemas['BudgetItems'];
  editing: boolean;
  onEdited: () => void;
}) {
  const { t } = useTranslation('budgets');
  const [raising, setRaising] = useState<Budget | null>(null);
  const opener = useRef<HTMLElement>(null);
  const budgets = answer.items.filter((one) => one.keyId === keyId);
  const currency = useCurrency(applicationId, editing && budgets.length === 0);
  const override = useBudgetWrite(({ of, draft }: { of: Budget; draft: OverrideDraft }) => raise(of, draft));
  const end = useBudgetWrite(endRaise);
  const known = budgets[0]?.currency ?? currency;
  const close = () => {
    setRaising(null);
    override.reset();
    requestAnimationFrame(() => opener.current?.focus());
  };
  return (
    <>
      {editing && !raising && known === null && <Bones height={220} />}
      <Suspense fallback={<Bones height={220} />}>
        {editing && !raising && known !== null && (
          <BudgetsForm
            applicationId={applicationId}
            keyId={keyId}
            name={name}
            budgets={budgets}
            updatedAt={answer.updatedAt ?? ''}
            currency={known}
            onClose={onEdited}
          />
        )}
        {raising && (
          <OverrideForm
            key={raising.id}
            of={raising}
            name={t(`named.${raising.period}`, { name })}
            error={override.error}
            onSubmit={(draft) =>
              override.mutateAsync(
                { of: raising, draft },
                {
                  onSuccess: () => {
                    notify('ok', t('raisedNow', { name }));
                    close();
                  },
                },
              )
            }
            onClose={close}
          />
        )}
      </Suspense>
      {budgets.length === 0 ? (
        !editing && <p className="second">{t(keyId === null ? 'empty' : 'emptyKey')}</p>
      ) : (
        <ul className="limit-list">
          {budgets.map((budget) => {
            const named = t(`named.${budget.period}`, { name });
            return (
              <BudgetItem key={budget.id} of={budget}>
                <div className="budget-actions">
                  <BudgetActions
                    of={budget}
                    name={named}
                    onRaise={(by) => {
                      opener.current = by;
                      override.reset();
                      setRaising(budget);
                    }}
                    onEnd={end.mutateAsync}
                  />
                </div>
              </BudgetItem>
            );
          })}
        </ul>
      )}
    </>
  );
}
