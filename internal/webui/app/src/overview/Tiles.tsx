import './overview.css';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { To } from 'react-router';
import type { Schemas } from '../api/client';
import type { Totals } from '../chart/series';
import { dayOf } from '../range/days';
import { firstDay, late, unrecorded, whole, type Coverage } from '../range/coverage';
import type { Change } from '../format/format';
import { useFormat } from '../format/useFormat';
import { Empty } from '../ui/page/Block';
import { Counted } from '../ui/table/Counted';
import { Icon } from '../ui/Icon';
import { Updated } from '../ui/page/Updated';

/** Two periods over the same closed days, and how to say which. */
export interface Comparison {
  now: Totals;
  before: Totals;
  /** The period before, for the tooltip. */
  span: string;
}

type Figures = Pick<Schemas['Metrics'], 'calls' | 'successes' | 'failures' | 'avgDurationMs' | 'p50Ms' | 'p95Ms' | 'p99Ms'>;
type Said = Coverage & Pick<Schemas['Coverage'], 'missed'> & { receivedAt: number };

/** The figures of a period with their changes; `last` is a tile of the page's own. What counts calls leads to them. */
export function Tiles({
  figures,
  coverage,
  comparison,
  calls,
  failures,
  last,
}: {
  figures: Figures;
  coverage: Said;
  comparison: Comparison | null;
  calls?: To;
  failures?: To;
  last?: { label: string; value: string; note?: string };
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const none = unrecorded(coverage); // absent, not 0
  const [now, before] = [comparison?.now, comparison?.before];
  const change = (a: number | null | undefined, b: number | null | undefined) => (comparison ? format.change(a ?? null, b ?? null) : null);
  return (
    <>
      <dl className="tiles" data-of={last ? 5 : 4}>
        <Tile
          label={t('metrics.calls')}
          value={<Counted n={none ? null : figures.calls} to={calls} label={t('metrics.calls')} />}
          change={change(now?.calls, before?.calls)}
          basis={comparison?.span}
        />
        <Tile
          label={t('metrics.successRate')}
          value={format.rate(figures.successes, figures.calls)}
          change={comparison ? format.rateChange(now?.rate ?? null, before?.rate ?? null) : null}
          basis={comparison?.span}
        />
        <Tile
          label={t('metrics.failures')}
          value={<Counted n={none ? null : figures.failures} to={failures} label={t('metrics.failures')} />}
          change={change(now?.failures, before?.failures)}
          basis={comparison?.span}
        />
        <Tile
          label={t('metrics.avg')}
          value={format.duration(figures.avgDurationMs)}
          change={change(now?.avgMs, before?.avgMs)}
          basis={comparison?.span}
        />
        {last && <Tile label={last.label} value={last.value} note={last.note} />}
      </dl>
      <div className="tiles-foot meta">
        <span className="percentiles">
          {(
            [
              [50, figures.p50Ms],
              [95, figures.p95Ms],
              [99, figures.p99Ms],
            ] as const
          ).map(([n, ms]) => (
            <span key={n} title={t('metrics.percentile', { n: String(n) })}>
              p{n} {format.duration(ms)}
            </span>
          ))}
        </span>
        <Completeness coverage={coverage} />
      </div>
    </>
  );
}

function Tile({
  label,
  value,
  change,
  basis,
  note,
}: {
  label: string;
  value: ReactNode;
  change?: Change | null;
  basis?: string | undefined;
  note?: string | undefined;
}) {
  const { t } = useTranslation(['overview', 'common']);
  return (
    <div className="tile">
      <dt className="second">{label}</dt>
      <dd>
        <strong>{value}</strong>
        {change && change.direction !== 'none' && (
          <span className="meta number" title={basis ? t('basis', { span: basis }) : undefined}>
            {change.text}
          </span>
        )}
        {note && <span className="meta">{note}</span>}
      </dd>
    </div>
  );
}

/** Through when every call is counted, since when there are records, and how many calls are known to be missing. */
export function Completeness({ coverage }: { coverage: Said }) {
  const { t } = useTranslation(['overview', 'common']);
  const format = useFormat();
  const { dataThrough, missed } = coverage;
  const behind = late(coverage);
  const today = dayOf(Date.parse(dataThrough)) === dayOf(coverage.answeredAt);
  return (
    <span className="end">
      <Since coverage={coverage} />
      <span className={behind ? 'warned' : undefined} title={format.exactTime(dataThrough)}>
        {behind && <Icon name="warn" size={12} />}
        <span>{t('complete', { time: today ? format.clock(dataThrough) : format.time(dataThrough) })}</span>
        {behind && (
          <>
            {' · '}
            <span>{t('late')}</span>
          </>
        )}
      </span>
      {missed > 0 && (
        <>
          {' · '}
          <span className="warned" title={t('missedWhy')}>
            <Icon name="warn" size={12} />
            {t('missed', { n: format.count(missed) })}
          </span>
        </>
      )}
      {dayOf(coverage.answeredAt) <= coverage.end && (
        <>
          {' · '}
          <Updated at={coverage.receivedAt} />
        </>
      )}
    </span>
  );
}

/** Where the range reaches back further than the records: when they begin. */
function Since({ coverage }: { coverage: Coverage }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  if (whole(coverage.start, coverage)) return null;
  const first = firstDay(coverage);
  const words =
    first === dayOf(Date.parse(coverage.collectedSince))
      ? t('since', { time: format.time(coverage.collectedSince) })
      : t('kept', { day: first });
  return (
    <>
      <span>{words}</span>
      {' · '}
    </>
  );
}

/** A range from before the records. */
export function Unrecorded({ coverage, onNewest }: { coverage: Coverage; onNewest: () => void }) {
  const { t } = useTranslation(['overview', 'common']);
  return (
    <section className="block">
      <Empty text={t('unrecorded', { day: firstDay(coverage) })}>
        <button type="button" className="quiet" data-edge onClick={onNewest}>
          {t('common:range.presets.7d')}
        </button>
      </Empty>
    </section>
  );
}
