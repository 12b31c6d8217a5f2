import './figures.css';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { Money } from '../tokens/Money';
import { together } from '../tokens/tokens';
import { SortHead } from '../ui/table/SortHead';
import { useSearch } from '../ui/table/useSearch';
import type { Sort } from './queries';

/** One line of usage: who or what, what is worth saying of it below, and its figures. */
export interface Line {
  key: string;
  name: ReactNode;
  about?: ReactNode;
  figures: Pick<Schemas['MetricsFields'], 'calls' | 'failures' | 'p95Ms' | 'tokens' | 'cost'>;
}

/** Figures by owner, application or capability, as they are ordered. */
export function UsageTable({ what, lines, sort, title }: { what: string; lines: readonly Line[]; sort: Sort; title: string }) {
  const { t } = useTranslation(['figures', 'common']);
  const [, setSearch] = useSearch();
  const format = useFormat();
  const head = (by: Sort, label: string, room = '') => (
    <SortHead
      className={`right ${room}`}
      sorted={sort === by ? 'descending' : undefined}
      onSort={() => setSearch({ page: null, sort: by === 'calls' ? null : by })}
    >
      {label}
    </SortHead>
  );
  return (
    <table className="table usage-table">
      <caption className="unseen">{title}</caption>
      <thead>
        <tr>
          <th scope="col" className="name">
            {what}
          </th>
          {head('calls', t('common:metrics.calls'))}
          {head('failures', t('common:metrics.failures'))}
          {head('failureRate', t('common:metrics.failureRate'), 'wide')}
          <th scope="col" className="right wider">
            {t('common:metrics.p95')}
          </th>
          {head('tokens', t('common:tokens.tokens'), 'roomy')}
          {head('cost', t('common:tokens.cost'), 'roomy')}
        </tr>
      </thead>
      <tbody>
        {lines.map(({ key, name, about, figures }) => (
          <tr key={key}>
            <td className="name">
              {name}
              {about && <span className="meta">{about}</span>}
              <span className="meta close usage-more">
                {figures.calls > 0 && <span className="narrow">{format.failureRate(figures.failures, figures.calls)}</span>}
                {together(figures.tokens) !== null && (
                  <>
                    <span className="narrow"> · </span>
                    {t('usage.tokens', { n: format.count(together(figures.tokens)) })} · <Money cost={figures.cost} />
                  </>
                )}
              </span>
            </td>
            <td className="right">{format.count(figures.calls)}</td>
            <td className="right">{format.count(figures.failures)}</td>
            <td className="right wide">{format.failureRate(figures.failures, figures.calls)}</td>
            <td className="right wider">{format.duration(figures.p95Ms)}</td>
            <td className="right roomy">{format.count(together(figures.tokens))}</td>
            <td className="right roomy">
              <Money cost={figures.cost} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
