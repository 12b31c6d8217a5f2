import '../limits/limits.css';
import './budgets.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { Block, Empty } from '../ui/page/Block';
import { CsvFoot } from '../ui/table/CsvButton';
import { useTitle } from '../ui/page/useTitle';
import { BudgetItem } from './BudgetItem';
import { byPressure, type Budget } from './budgets';
import { budgetQueries } from './queries';

/** All own budgets, of applications and of keys; those that press most come first. */
export function Component() {
  const { t } = useTranslation('budgets');
  useTitle(t('title'));
  const query = useQuery({ ...budgetQueries.own(), staleTime: 0, refetchInterval: 10_000 });
  return (
    <>
      <div className="page-head">
        <h1>{t('title')}</h1>
      </div>
      <section className="block" aria-label={t('title')}>
        <p className="second limits-about">{t('about')}</p>
        <Block query={query} height={240}>
          {(budgets) =>
            budgets.length === 0 ? (
              <Empty text={t('emptyAll')}>
                <Link className="quiet" data-edge to="/applications">
                  {t('toApplications')}
                </Link>
              </Empty>
            ) : (
              <>
                <ul className="limit-list">
                  {byPressure(budgets).map((budget) => (
                    <BudgetItem key={budget.id} of={budget} name={<Name of={budget} />} />
                  ))}
                </ul>
                <CsvFoot name="budgets" rows={byPressure(budgets)} />
              </>
            )
          }
        </Block>
      </section>
    </>
  );
}

/** Whose it is, on the way to its page. */
function Name({ of: { applicationId, applicationName, scope, keyName } }: { of: Budget }) {
  const { t } = useTranslation('budgets');
  return (
    <>
      <Link to={`/applications/${applicationId}${scope === 'key' ? '#keys' : '#budgets'}`}>{applicationName}</Link>
      {scope === 'key' && ` · ${t('ofKey', { name: keyName || t('firstKey') })}`}
      {' · '}
    </>
  );
}
