import { memo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { callsPath } from '../calls/filter';
import { useFormat } from '../format/useFormat';
import { leaving, whileLeaving, type RangeState } from '../range/useRange';
import { Money } from '../tokens/Money';
import { amountIn, together, usualCurrency } from '../tokens/tokens';
import { Tag } from '../ui/Tag';
import { CsvButton } from '../ui/table/CsvButton';
import type { Period } from '../ui/table/saveCsv';
import { Counted } from '../ui/table/Counted';
import { SortHead } from '../ui/table/SortHead';
import { useOrder } from '../ui/table/useOrder';
import { applicationQueries } from './queries';

interface Of {
  id: string;
  /** The query that names the range. */
  ranged: string;
}

/** What each key did in the range, where there is more than one; a row leads to its calls. */
export default function ByKey({ id, state, ranged }: Of & { state: RangeState }) {
  const query = useQuery(applicationQueries.keyFigures(id, state.range, state.holdsToday));
  if (!query.data || query.data.items.length < 2) return null;
  return <Rows id={id} ranged={ranged} period={state.range} items={query.data.items} leaving={leaving(query, state)} />;
}

const Rows = memo(AllRows, whileLeaving);

function AllRows({ id, ranged, period, items }: Of & { period: Period; items: readonly Schemas['KeyUsage'][]; leaving: boolean }) {
  const { t } = useTranslation(['applications', 'calls', 'common']);
  const format = useFormat();
  const title = t('detail.byKey');
  const currency = usualCurrency(items);
  const { rows, head } = useOrder(
    'keys',
    items,
    {
      name: ({ name, id }) => name ?? id,
      calls: ({ calls }) => calls,
      rate: ({ calls, successes }) => (calls === 0 ? null : successes / calls),
      tokens: ({ tokens }) => together(tokens),
      cost: ({ cost }) => amountIn(cost, currency),
      lastUsed: ({ lastUsedAt }) => (lastUsedAt === null ? null : Date.parse(lastUsedAt)),
    },
    'calls',
  );
  return (
    <section className="block" aria-label={title}>
      <div className="block-head">
        <h2>{title}</h2>
        <CsvButton name="keys" period={period} rows={rows} />
      </div>
      <table className="table">
        <caption className="unseen">{title}</caption>
        <thead>
          <tr>
            <SortHead className="name" {...head('name')}>
              {t('keys.mask')}
            </SortHead>
            <SortHead className="right" {...head('calls')}>
              {t('common:metrics.calls')}
            </SortHead>
            <SortHead className="right" {...head('rate')}>
              {t('common:metrics.successRate')}
            </SortHead>
            <SortHead className="right wide" {...head('tokens')}>
              {t('common:tokens.tokens')}
            </SortHead>
            <SortHead className="right wide" {...head('cost')}>
              {t('common:tokens.cost')}
            </SortHead>
            <SortHead className="right wider" {...head('lastUsed')}>
              {t('keys.lastUsed')}
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {rows.map((key) => {
            const to = callsPath(id, ranged, { key: key.id });
            return (
              <tr key={key.id}>
                <td className="name">
                  <Link to={to} title={key.maskedAccessKey ?? key.id}>
                    {key.name ?? key.id}
                  </Link>{' '}
                  {key.first && (
                    <span>
                      <Tag kind="ok">{t('keys.first')}</Tag>
                    </span>
                  )}
                  {key.name === null && <span className="meta">{t('calls:fact.keyGone')}</span>}
                </td>
                <td className="right">
                  <Counted n={key.calls} to={to} />
                </td>
                <td className="right">{format.rate(key.successes, key.calls)}</td>
                <td className="right wide">{format.count(together(key.tokens))}</td>
                <td className="right wide">
                  <Money cost={key.cost} />
                </td>
                <td className="right wider" title={key.lastUsedAt === null ? undefined : format.exactTime(key.lastUsedAt)}>
                  {key.lastUsedAt === null ? t('keys.unused') : format.time(key.lastUsedAt)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
