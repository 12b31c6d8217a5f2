import './figures.css';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../format/useFormat';
import { CsvButton } from '../ui/table/CsvButton';
import { CapabilityName } from './places';
import type { CapabilityLine } from './queries';

const MOST_ROWS = 10;

/** What each capability did in the last hour against the hour before, most failures first, then most calls; nothing where none was called. */
export function HoursTable({ lines, search }: { lines: readonly CapabilityLine[]; search: string }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  const called = lines
    .filter(({ lastHour, hourBefore }) => lastHour.calls + hourBefore.calls > 0)
    .sort((a, b) => b.lastHour.failures - a.lastHour.failures || b.lastHour.calls - a.lastHour.calls);
  if (called.length === 0) return null;
  const change = (now: number | null, before: number | null, as: (n: number | null) => string = format.count) => {
    const { direction, text } = format.change(now, before);
    return (
      direction !== 'same' &&
      direction !== 'none' && (
        <span className="meta roomy" title={t('hour.before', { value: as(before) })}>
          {' '}
          {text}
        </span>
      )
    );
  };
  return (
    <section className="block" aria-label={t('hours.title')}>
      <div className="block-head">
        <h2>{t('hours.title')}</h2>
        <CsvButton name="last-hour" rows={called} />
      </div>
      <table className="table">
        <thead>
          <tr>
            <th scope="col" className="name">
              {t('hours.capability')}
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
            <th scope="col" className="right wide">
              {t('common:metrics.p95')}
            </th>
          </tr>
        </thead>
        <tbody>
          {called.slice(0, MOST_ROWS).map(({ model, name, lastHour, hourBefore }) => (
            <tr key={model}>
              <td className="name">
                <CapabilityName model={model} name={name} search={search} />
              </td>
              <td className="right">
                {format.count(lastHour.calls)}
                {change(lastHour.calls, hourBefore.calls)}
              </td>
              <td className="right">
                {format.count(lastHour.failures)}
                {change(lastHour.failures, hourBefore.failures)}
              </td>
              <td className="right wide">{format.failureRate(lastHour.failures, lastHour.calls)}</td>
              <td className="right wide">
                {format.duration(lastHour.p95Ms)}
                {change(lastHour.p95Ms, hourBefore.p95Ms, format.duration)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {called.length > MOST_ROWS && (
        <p className="meta causes-rest">
          <Link to="/admin/usage?by=capabilities">{t('hours.rest', { n: format.count(called.length) })}</Link>
        </p>
      )}
    </section>
  );
}
