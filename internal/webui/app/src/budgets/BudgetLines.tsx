import './budgets.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { BudgetLine } from './BudgetLine';
import { byPressure } from './budgets';
import { budgetQueries } from './queries';

const SHOWN = 3;

/** The own budgets that press most, with the way to all; nothing where there is none. */
export default function BudgetLines() {
  const { t } = useTranslation('budgets');
  const { data } = useQuery(budgetQueries.own());
  if (data === undefined || data.length === 0) return null;
  return (
    <div className="budget-lines">
      <Link to="/budgets">{t('title')}</Link>
      <ul>
        {byPressure(data)
          .slice(0, SHOWN)
          .map((budget) => (
            <li key={budget.id}>
              <Link to={`/applications/${budget.applicationId}#budgets`}>{budget.applicationName}</Link> <BudgetLine of={budget} />
            </li>
          ))}
      </ul>
    </div>
  );
}
