import '../../ui/table/records.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { mostPriced } from '../../budgets/budgets';
import { Money } from '../../tokens/Money';
import { Email } from '../../ui/Email';
import { Empty, TableBones } from '../../ui/page/Block';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { Cell } from '../../ui/table/Records';
import { budgetLists, BUDGETS_SIZE, officeBudgetQueries } from './budgetQueries';
import { wholeOf } from '../queries';

/** Applications that spend without a budget, and the way to give their owner one. */
export function Uncovered({
  page,
  onPage,
  onCover,
}: {
  page: number;
  onPage: (page: number) => void;
  onCover: (owner: string, currency: string | undefined) => void;
}) {
  const { t } = useTranslation('admin');
  const query = useQuery(officeBudgetQueries.uncovered(page));
  return (
    <>
      <p className="second limits-about">{t('budgets.uncoveredAbout')}</p>
      <PagedBlock
        query={query}
        height={240}
        bones={<TableBones roomy className="records" head={<Columns />} rows={4} columns={4} />}
        page={page}
        size={BUDGETS_SIZE}
        onPage={onPage}
        csv={{ name: 'uncovered', rows: wholeOf(budgetLists.uncovered, {}) }}
        empty={<Empty text={t('budgets.covered')} />}
      >
        {({ items }) => (
          <table className="table records">
            <Columns />
            <tbody>
              {items.map(({ applicationId, applicationName, ownerEmail, costs }) => (
                <tr key={applicationId}>
                  <td>
                    <Link to={`/admin/applications?q=${applicationId}`}>{applicationName}</Link>
                  </td>
                  <Cell label={t('budgets.owner')}>
                    <Email of={ownerEmail} />
                  </Cell>
                  <Cell label={t('budgets.cost')} className="right number">
                    <Money cost={costs} />
                  </Cell>
                  <td>
                    <div className="record-actions">
                      <button
                        type="button"
                        className="quiet"
                        data-edge
                        aria-label={t('budgets.coverOf', { owner: ownerEmail, name: applicationName })}
                        onClick={() => onCover(ownerEmail, mostPriced(costs))}
                      >
                        {t('budgets.cover')}
                      </button>
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedBlock>
    </>
  );
}

function Columns() {
  const { t } = useTranslation('admin');
  return (
    <thead>
      <tr>
        <th scope="col">{t('budgets.application')}</th>
        <th scope="col">{t('budgets.owner')}</th>
        <th scope="col" className="right">
          {t('budgets.cost')}
        </th>
        <th scope="col" className="right">
          <span className="unseen">{t('budgets.action')}</span>
        </th>
      </tr>
    </thead>
  );
}
