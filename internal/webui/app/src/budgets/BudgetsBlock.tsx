import '../limits/limits.css';
import './budgets.css';
import { useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { Block } from '../ui/page/Block';
import { useAnchor } from '../ui/page/useScroll';
import { Budgets } from './Budgets';
import { budgetQueries } from './queries';

/** What an application may cost, how much of it is spent, and what happens then. */
export function BudgetsBlock({ application: { id, name } }: { application: Schemas['Application'] }) {
  const { t } = useTranslation('budgets');
  const query = useQuery(budgetQueries.of(id));
  const [editing, setEditing] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useAnchor('budgets');
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => opener.current?.focus());
  };
  return (
    <section id="budgets" className="block budgets" aria-label={t('title')}>
      <div className="block-head">
        <h2>{t('title')}</h2>
        {!editing && (
          <button ref={opener} type="button" className="quiet" data-edge disabled={!query.data} onClick={() => setEditing(true)}>
            {t('edit')}
          </button>
        )}
      </div>
      <p className="second limits-about">{t('about')}</p>
      <Block query={query} height={22}>
        {(answer) => <Budgets applicationId={id} keyId={null} name={name} answer={answer} editing={editing} onEdited={close} />}
      </Block>
    </section>
  );
}
