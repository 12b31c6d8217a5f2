import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, type To } from 'react-router';
import type { Schemas } from '../api/client';
import { sum } from '../chart/series';
import { useFormat } from '../format/useFormat';
import { Money } from '../tokens/Money';
import { CsvButton } from '../ui/table/CsvButton';
import type { Period } from '../ui/table/saveCsv';
import { Counted } from '../ui/table/Counted';
import { SortHead } from '../ui/table/SortHead';
import { useOrder } from '../ui/table/useOrder';
import { add, addCosts, amountIn, together, usualCurrency } from '../tokens/tokens';

const MOST_ROWS = 8;
const OTHER = ' other'; // no capability is called so

type Usage = Schemas['ModelMetrics'];
interface Row {
  key: string;
  name: string;
  id: string | null;
  usage: Pick<Usage, 'calls' | 'successes' | 'failures' | 'avgDurationMs' | 'p95Ms' | 'cost'>;
  /** Input and output. */
  tokens: number | null;
}

/** Calls per capability: the first eight in the order that a reader chose, at first the most used, and the rest together. `to` says where a capability's calls are. */
export function UsageTable({
  models,
  title,
  period,
  to,
}: {
  models: readonly Usage[];
  title: string;
  /** The Beijing days that they are of. */
  period: Period;
  to?: (model: string, result: 'failure' | null) => To | undefined;
}) {
  const { t } = useTranslation(['overview', 'common']);
  const format = useFormat();
  const [whole, setWhole] = useState(false);
  const currency = usualCurrency(models);
  const { rows: sorted, head } = useOrder(
    'sort',
    models,
    {
      name: ({ name, model }) => name || model,
      calls: ({ calls }) => calls,
      rate: ({ calls, successes }) => (calls === 0 ? null : successes / calls),
      failures: ({ failures }) => failures,
      avg: ({ avgDurationMs }) => avgDurationMs,
      p95: ({ p95Ms }) => p95Ms,
      tokens: ({ tokens }) => together(tokens),
      cost: ({ cost }) => amountIn(cost, currency),
    },
    'calls',
  );
  const rows = rowsOf(sorted, whole ? models.length : MOST_ROWS, t('common:metrics.unspecified'), (count) =>
    t('common:metrics.rest', { n: format.count(count) }),
  );
  const all = models.reduce((calls, model) => calls + model.calls, 0);
  const counted = rows.some(({ tokens }) => tokens !== null);
  const priced = rows.some(({ usage }) => usage.cost.some(({ amount }) => amount !== null));
  const most = Math.max(1, ...rows.map((row) => row.usage.calls));
  return (
    <section className="block" aria-label={title}>
      <div className="block-head">
        <h2>{title}</h2>
        <CsvButton name="capabilities" period={period} rows={sorted} />
      </div>
      <table className="table">
        <thead>
          <tr>
            <SortHead className="name" {...head('name')}>
              {t('capability')}
            </SortHead>
            <SortHead className="right" {...head('calls')}>
              {t('common:metrics.calls')}
            </SortHead>
            <th scope="col" className="wider fill" aria-hidden="true" />
            <th scope="col" className="right wider">
              {t('common:metrics.share')}
            </th>
            <SortHead className="right" {...head('rate')}>
              {t('common:metrics.successRate')}
            </SortHead>
            <SortHead className="right wide" {...head('failures')}>
              {t('common:metrics.failures')}
            </SortHead>
            <SortHead className="right wide" {...head('avg')}>
              {t('common:metrics.avg')}
            </SortHead>
            <SortHead className="right roomy" {...head('p95')}>
              {t('common:metrics.p95')}
            </SortHead>
            {counted && (
              <SortHead className="right wider" {...head('tokens')}>
                {t('common:tokens.tokens')}
              </SortHead>
            )}
            {priced && (
              <SortHead className="right wider" {...head('cost')}>
                {t('common:tokens.cost')}
              </SortHead>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, id, usage, tokens }) => (
            <tr key={key}>
              <td className="name">
                {key === OTHER ? (
                  <button type="button" className="quiet flush" aria-expanded="false" onClick={() => setWhole(true)}>
                    {name}
                  </button>
                ) : id === null ? (
                  <span title={name}>{name}</span>
                ) : (
                  <Link to={`/capabilities/${encodeURIComponent(id)}`} title={name === id ? id : `${name} (${id})`}>
                    {name}
                  </Link>
                )}
              </td>
              <td className="right">
                <Counted n={usage.calls} to={key === OTHER ? undefined : to?.(key, null)} />
              </td>
              <td className="wider fill" aria-hidden="true">
                <span className="share" style={{ width: `${(usage.calls / most) * 100}%` }} />
              </td>
              <td className="right wider">{all === 0 ? '—' : `${((usage.calls / all) * 100).toFixed(1)}%`}</td>
              <td className="right">{format.rate(usage.successes, usage.calls)}</td>
              <td className="right wide">
                <Counted n={usage.failures} to={key === OTHER ? undefined : to?.(key, 'failure')} />
              </td>
              <td className="right wide">{format.duration(usage.avgDurationMs)}</td>
              <td className="right roomy">{format.duration(usage.p95Ms)}</td>
              {counted && <td className="right wider">{format.count(tokens)}</td>}
              {priced && (
                <td className="right wider">
                  <Money cost={usage.cost} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {whole && models.length > MOST_ROWS && (
        <button type="button" className="quiet flush" aria-expanded="true" onClick={() => setWhole(false)}>
          {t('common:metrics.fewer', { n: String(MOST_ROWS) })}
        </button>
      )}
    </section>
  );
}

function rowsOf(models: readonly Usage[], most: number, unspecified: string, other: (count: number) => string): Row[] {
  const rows = models.slice(0, most).map((usage): Row => ({
    key: usage.model,
    name: usage.model === '' ? unspecified : usage.name || usage.model,
    id: usage.name === '' ? null : usage.model,
    usage,
    tokens: together(usage.tokens),
  }));
  const rest = models.slice(rows.length);
  if (rest.length > 0) {
    const all = sum(rest.map((usage) => ({ ...usage, date: '' })));
    rows.push({
      key: OTHER,
      name: other(rest.length),
      id: null,
      tokens: add(rest.map(({ tokens }) => together(tokens))),
      usage: { ...all, avgDurationMs: all.avgMs, p95Ms: null, cost: addCosts(rest.map(({ cost }) => cost)) },
    });
  }
  return rows;
}
