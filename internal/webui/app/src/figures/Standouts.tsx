import './figures.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { carried } from '../range/range';
import type { RangeState } from '../range/useRange';
import { money } from '../tokens/tokens';
import { SLOW_RHYTHM } from '../ui/page/queries';
import { figuresQueries, type Sort } from './queries';

const nobody = { q: '', page: 1 };

/** The owners that stand out in the range, each one step from their applications. */
export function Standouts({ state }: { state: RangeState }) {
  const { t } = useTranslation('figures');
  const format = useFormat();
  const worst = useFirst(state, 'failures')?.items[0];
  const most = useFirst(state, 'calls')?.items[0];
  const dear = useFirst(state, 'cost');
  const cost = dear?.items[0]?.cost.find(({ currency }) => currency === dear.currency);
  return (
    <ul className="standouts">
      {worst && worst.failures > 0 && (
        <Standout label={t('usage.worst')} of={worst} sort="failures">
          {t('usage.worstBy', {
            failures: format.count(worst.failures),
            calls: format.count(worst.calls),
            rate: format.failureRate(worst.failures, worst.calls),
          })}
        </Standout>
      )}
      {most && most.calls > 0 && (
        <Standout label={t('usage.most')} of={most} sort="calls">
          {t('usage.mostBy', { calls: format.count(most.calls) })}
        </Standout>
      )}
      {cost && dear?.items[0] && Number(cost.amount) > 0 && (
        <Standout label={t('usage.dear')} of={dear.items[0]} sort="cost">
          {money(cost)}
        </Standout>
      )}
    </ul>
  );
}

/** Who stands first changes rarely: it is asked for less often than what the page is about. */
const useFirst = (state: RangeState, sort: Sort) =>
  useQuery({
    ...figuresQueries.owners(state.range, { ...nobody, sort }, state.holdsToday, 1),
    refetchInterval: state.holdsToday && SLOW_RHYTHM,
  }).data;

function Standout({
  label,
  of: { owner },
  sort,
  children,
}: {
  label: string;
  of: Schemas['OwnerFigures'];
  sort: string;
  children: string;
}) {
  const range = carried(new URLSearchParams(useLocation().search));
  const to = `/admin/usage${range}${range === '' ? '?' : '&'}${new URLSearchParams({ by: 'applications', owner: owner.id, sort })}`;
  return (
    <li>
      <span className="meta">{label}</span>
      <Link className="cut" to={to} title={owner.email}>
        {owner.email}
      </Link>
      <span className="number">{children}</span>
    </li>
  );
}
