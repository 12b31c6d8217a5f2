import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { sum } from '../chart/series';
import { useFormat } from '../format/useFormat';

const MOST_ROWS = 8;

type Usage = Schemas['ModelMetrics'];
interface Row {
  key: string;
  name: string;
  id: string | null;
  usage: Pick<Usage, 'calls' | 'successes' | 'failures' | 'avgDurationMs' | 'p95Ms'>;
}

/** Calls per capability: the eight most used and the rest together. */
export function UsageTable({ models, title }: { models: readonly Usage[]; title: string }) {
  const { t } = useTranslation(['overview', 'common']);
  const format = useFormat();
  const rows = rowsOf(models, t('common:metrics.unspecified'), (count) => t('common:metrics.rest', { n: format.count(count) }));
  const all = models.reduce((calls, model) => calls + model.calls, 0);
  const most = Math.max(1, ...rows.map((row) => row.usage.calls));
  return (
    <section className="block" aria-label={title}>
      <div className="block-head"><h2>{title}</h2></div>
      <table className="table">
        <thead>
          <tr>
            <th scope="col" className="name">{t('capability')}</th>
            <th scope="col" className="right">{t('common:metrics.calls')}</th>
            <th scope="col" className="wider fill" aria-hidden="true" />
            <th scope="col" className="right wider">{t('common:metrics.share')}</th>
            <th scope="col" className="right">{t('common:metrics.successRate')}</th>
            <th scope="col" className="right wide">{t('common:metrics.failures')}</th>
            <th scope="col" className="right wide">{t('common:metrics.avg')}</th>
            <th scope="col" className="right roomy">{t('common:metrics.p95')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, id, usage }) => (
            <tr key={key}>
              <td className="name">{id === null ? <span title={name}>{name}</span> : <Link to={`/capabilities/${encodeURIComponent(id)}`} title={name === id ? id : `${name} (${id})`}>{name}</Link>}</td>
              <td className="right">{format.count(usage.calls)}</td>
              <td className="wider fill" aria-hidden="true"><span className="share" style={{ width: `${(usage.calls / most) * 100}%` }} /></td>
              <td className="right wider">{all === 0 ? '—' : `${((usage.calls / all) * 100).toFixed(1)}%`}</td>
              <td className="right">{format.rate(usage.successes, usage.calls)}</td>
              <td className="right wide">{format.count(usage.failures)}</td>
              <td className="right wide">{format.duration(usage.avgDurationMs)}</td>
              <td className="right roomy">{format.duration(usage.p95Ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function rowsOf(models: readonly Usage[], unspecified: string, other: (count: number) => string): Row[] {
  const rows = models.slice(0, models.length > MOST_ROWS ? MOST_ROWS : undefined).map((usage): Row => ({
    key: usage.model, name: usage.model === '' ? unspecified : usage.name || usage.model, id: usage.name === '' ? null : usage.model, usage,
  }));
  const rest = models.slice(rows.length);
  if (rest.length > 0) {
    const together = sum(rest.map((usage) => ({ ...usage, date: '' })));
    rows.push({ key: ' other', name: other(rest.length), id: null, usage: { ...together, avgDurationMs: together.avgMs, p95Ms: null } });
  }
  return rows;
}
