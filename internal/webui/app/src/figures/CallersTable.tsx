import './figures.css';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { CsvButton } from '../ui/table/CsvButton';
import type { Period } from '../ui/table/saveCsv';
import { ApplicationName, OwnerName } from './places';

const FEW = 10;

/** Whom the failures of a capability hit: the applications that called it, most failures first. */
export function CallersTable({ callers: { items, total }, period }: { callers: Schemas['CallingApplications']; period: Period }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  const [all, setAll] = useState(false);
  const title = t('capability.callers');
  return (
    <section className="block" aria-label={title}>
      <div className="block-head">
        <h2>{title}</h2>
        <CsvButton name="applications" period={period} rows={items} />
      </div>
      <table className="table">
        <caption className="unseen">{title}</caption>
        <thead>
          <tr>
            <th scope="col" className="name">
              {t('usage.application')}
            </th>
            <th scope="col" className="owner-cell roomy">
              {t('usage.owner')}
            </th>
            <th scope="col" className="right">
              {t('common:metrics.calls')}
            </th>
            <th scope="col" className="right">
              {t('common:metrics.failures')}
            </th>
            <th scope="col" className="right wide">
              {t('common:metrics.failureRate')}
            </th>
            <th scope="col" className="right wider">
              {t('capability.lastFailure')}
            </th>
          </tr>
        </thead>
        <tbody>
          {items.slice(0, all ? items.length : FEW).map((one) => (
            <tr key={one.id}>
              <td className="name">
                <ApplicationName of={one} />
                <span className="meta close">
                  <OwnerName of={one.owner} />
                </span>
              </td>
              <td className="owner-cell cut roomy">
                <OwnerName of={one.owner} />
              </td>
              <td className="right">{format.count(one.calls)}</td>
              <td className="right">{format.count(one.failures)}</td>
              <td className="right wide">{format.failureRate(one.failures, one.calls)}</td>
              <td className="right wider" title={one.lastFailureAt === null ? undefined : format.exactTime(one.lastFailureAt)}>
                {one.lastFailureAt === null ? '—' : format.time(one.lastFailureAt).slice(5)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {items.length > FEW && (
        <button type="button" className="quiet flush" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('common:metrics.fewer', { n: String(FEW) }) : t('capability.more', { n: format.count(items.length) })}
        </button>
      )}
      {total > items.length && (
        <p className="meta causes-rest">{t('capability.most', { n: format.count(items.length), total: format.count(total) })}</p>
      )}
    </section>
  );
}
