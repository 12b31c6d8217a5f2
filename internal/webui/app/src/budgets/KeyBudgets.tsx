import { useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Key } from '../applications/keys';
import { Block } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { useFocusReturn } from '../ui/keys/useFocusReturn';
import { Budgets } from './Budgets';
import { budgetQueries } from './queries';

/** The budgets of a key above the list of keys: its form at once where there is none. */
export default function KeyBudgets({ applicationId, of: { id, name }, onClose }: { applicationId: string; of: Key; onClose: () => void }) {
  const { t } = useTranslation(['budgets', 'common']);
  const query = useQuery(budgetQueries.of(applicationId));
  // Without any the form is all there is.
  const [none] = useState(() => query.data !== undefined && !query.data.items.some((one) => one.keyId === id));
  const [editing, setEditing] = useState(none);
  const place = useRef<HTMLElement>(null);
  useFocusReturn();
  useEffect(() => place.current?.focus(), []);
  return (
    <section ref={place} tabIndex={-1} className="key-form stack budgets" aria-label={t('keyBudgetsOf', { name })}>
      <h3>{t('keyBudgetsOf', { name })}</h3>
      <p className="second">{t('keyAbout')}</p>
      <Block query={query} height={88}>
        {(answer) => (
          <Budgets
            applicationId={applicationId}
            keyId={id}
            name={name}
            answer={answer}
            editing={editing}
            onEdited={() => (none ? onClose() : setEditing(false))}
          />
        )}
      </Block>
      {!editing && (
        <div className="row">
          <Button onClick={() => setEditing(true)}>{t('edit')}</Button>
          <Button onClick={onClose}>{t('common:action.close')}</Button>
        </div>
      )}
    </section>
  );
}
