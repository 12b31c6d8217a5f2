import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { unrecorded } from '../range/coverage';
import { Block } from '../ui/page/Block';
import { Icon } from '../ui/Icon';
import { PastTheEnd } from '../ui/table/PagedBlock';
import { Pages } from '../ui/table/Pages';
import { CallBones } from './CallTable';
import type { Column } from './columns';
import type { CallPage } from './queries';
import type { Filter } from './filter';
import { Jump } from './Jump';
import type { CallFlow } from './useCallFlow';

/** One page of a flow: its figures, its rows or why there are none, and the ways to other pages. */
export function CallList({
  address,
  flow,
  filter,
  page,
  columns,
  match = false,
  onlyFailures,
  onOnlyFailures,
  onHover,
  onCatchUp,
  nothing,
  sizes,
  children,
}: {
  /** Where its calls are downloaded. */
  address: string;
  flow: CallFlow;
  filter: Filter;
  page: number;
  /** Those of a page of its own, which a drawer has no room for. */
  columns?: readonly Column[];
  /** Whether it says how many calls match. */
  match?: boolean;
  onlyFailures: boolean;
  onOnlyFailures: (on: boolean) => void;
  onHover: (over: boolean) => void;
  onCatchUp: () => void;
  /** What is said where there is no such call. */
  nothing: (page: CallPage) => ReactNode;
  /** Chooses how many are on a page. */
  sizes?: ReactNode;
  children: (page: CallPage) => ReactNode;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const { query, shown, pages, turn, jump } = flow;
  const last = Math.max(1, pages);
  return (
    <div className="call-place" aria-live="off">
      {shown.fresh > 0 && (
        <button
          type="button"
          className="quiet call-fresh"
          onClick={() => {
            onCatchUp();
            shown.catchUp();
          }}
        >
          {shown.fresh === 1 ? t('freshOne') : t('fresh', { n: String(shown.fresh) })}
        </button>
      )}
      <Block
        query={shown.data ? ({ ...query, data: shown.data } as typeof query) : query}
        height={488}
        bones={<CallBones columns={columns} />}
      >
        {(data) => (
          <>
            <Figures page={data} match={match} onlyFailures={onlyFailures} address={address} onOnlyFailures={onOnlyFailures} />
            {data.items.length > 0 ? (
              <div onPointerEnter={() => onHover(true)} onPointerLeave={() => onHover(false)}>
                {children(data)}
              </div>
            ) : page > 1 ? (
              <PastTheEnd page={page} last={last} onPage={turn} />
            ) : (
              nothing(data)
            )}
            <div className="call-foot" onPointerEnter={() => onHover(data.items.length > 0)} onPointerLeave={() => onHover(false)}>
              {pages > 1 && <Jump key={`${filter.start} ${filter.end}`} start={filter.start} end={filter.end} onJump={jump} />}
              {sizes}
              <Pages page={page} total={data.total} size={data.size} onPage={turn} />
            </div>
          </>
        )}
      </Block>
    </div>
  );
}

function Figures({
  page,
  match,
  onlyFailures,
  address,
  onOnlyFailures,
}: {
  page: CallPage;
  match: boolean;
  onlyFailures: boolean;
  address: string;
  onOnlyFailures: (on: boolean) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const { calls, successes, failures } = unrecorded(page) ? { calls: null, successes: null, failures: null } : page.summary;
  return (
    <div className="call-figures">
      {match && <strong role="status">{page.total === 1 ? t('page.matchOne') : t('page.match', { n: format.count(page.total) })}</strong>}
      <span>
        {t('common:metrics.calls')} <b>{format.count(calls)}</b>
      </span>
      <span>
        {t('common:metrics.successes')} <b>{format.count(successes)}</b>
      </span>
      <button
        type="button"
        className="quiet"
        data-edge
        aria-pressed={onlyFailures}
        title={t('onlyFailures')}
        onClick={() => onOnlyFailures(!onlyFailures)}
      >
        <Icon name="failed" size={12} /> {t('common:metrics.failures')} <b>{format.count(failures)}</b>
      </button>
      <a className="meta end" href={address} download>
        {t('common:csv.download')}
      </a>
    </div>
  );
}
