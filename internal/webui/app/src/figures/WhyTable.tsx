import './figures.css';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'react-router';
import type { Schemas } from '../api/client';
import { useReasonText } from '../calls/useReasonText';
import { useFormat } from '../format/useFormat';
import { CsvButton } from '../ui/table/CsvButton';
import type { Period } from '../ui/table/saveCsv';
import { useAnchor } from '../ui/page/useScroll';

/** The name of this block in a URL's hash. */
const WHY = 'why';

/** Why calls of a capability failed in the range, and how many applications and owners each reason hit. */
export function WhyTable({ reasons: { items, failures, other }, period }: { reasons: Schemas['FiguresFailures']; period: Period }) {
  const { t } = useTranslation(['figures', 'calls', 'common']);
  const format = useFormat();
  const words = useReasonText();
  const place = useRef<HTMLElement>(null);
  useAnchor(WHY);
  const { hash, key } = useLocation();
  useEffect(() => {
    if (hash === `#${WHY}`) place.current?.focus({ preventScroll: true });
  }, [hash, key]);
  return (
    <section ref={place} id={WHY} tabIndex={-1} className="block why" aria-label={t('calls:why.title')}>
      <div className="block-head">
        <h2>{t('calls:why.title')}</h2>
        <CsvButton name="failures" period={period} rows={other.failures > 0 ? [...items, other] : items} />
      </div>
      <table className="table">
        <caption className="unseen">{t('calls:why.title')}</caption>
        <thead>
          <tr>
            <th scope="col" className="name">
              {t('calls:fact.reason')}
            </th>
            <th scope="col" className="right">
              {t('common:metrics.failures')}
            </th>
            <th scope="col" className="right wide">
              {t('common:metrics.share')}
            </th>
            <th scope="col" className="right wide">
              {t('usage.by.applications')}
            </th>
            <th scope="col" className="right wide">
              {t('usage.by.owners')}
            </th>
            <th scope="col" className="right wider">
              {t('capability.first')}
            </th>
            <th scope="col" className="right roomy">
              {t('calls:why.last')}
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={[item.type, item.code, item.upstreamStatus].join(' ')}>
              <td className="name" title={item.type === null ? undefined : `${t(`calls:type.${item.type}`)} · ${item.code}`}>
                <span>{words(item)}</span>
                <span className="meta narrow">
                  {t('cause.hits', { applications: format.count(item.applicationCount), owners: format.count(item.ownerCount) })}
                </span>
              </td>
              <td className="right">{format.count(item.failures)}</td>
              <td className="right wide">{`${((item.failures / failures) * 100).toFixed(1)}%`}</td>
              <td className="right wide">{format.count(item.applicationCount)}</td>
              <td className="right wide">{format.count(item.ownerCount)}</td>
              <td className="right wider" title={format.exactTime(item.firstSeen)}>
                {format.time(item.firstSeen).slice(5)}
              </td>
              <td className="right roomy" title={format.exactTime(item.lastSeen)}>
                {format.time(item.lastSeen).slice(5)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {other.failures > 0 && (
        <p className="meta causes-rest">{t('calls:why.rest', { reasons: format.count(other.reasons), n: format.count(other.failures) })}</p>
      )}
    </section>
  );
}
