import './overview.css';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import type { Totals } from '../chart/series';
import type { Change } from '../format/format';
import { useFormat } from '../format/useFormat';
import { Icon } from '../ui/Icon';

/** Two periods over the same closed days, and how to say which. */
export interface Comparison {
  now: Totals;
  before: Totals;
  /** The period before, for the tooltip. */
  span: string;
}

type Figures = Schemas['Metrics'];

/** The figures of a period with their changes; `last` is a tile of the page's own. */
export function Tiles({ figures, coverage, comparison, last }: { figures: Figures; coverage: Pick<Schemas['Coverage'], 'dataThrough' | 'missed'>; comparison: Comparison | null; last?: { label: string; value: string; note?: string } }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [now, before] = [comparison?.now, comparison?.before];
  const change = (a: number | null | undefined, b: number | null | undefined) => (comparison ? format.change(a ?? null, b ?? null) : null);
  return (
    <>
      <dl className="tiles" data-of={last ? 5 : 4}>
        <Tile label={t('metrics.calls')} value={format.count(figures.calls)} change={change(now?.calls, before?.calls)} basis={comparison?.span} />
        <Tile label={t('metrics.successRate')} value={format.rate(figures.successes, figures.calls)} change={comparison ? format.rateChange(now?.rate ?? null, before?.rate ?? null) : null} basis={comparison?.span} />
        <Tile label={t('metrics.failures')} value={format.count(figures.failures)} change={change(now?.failures, before?.failures)} basis={comparison?.span} />
        <Tile label={t('metrics.avg')} value={format.duration(figures.avgDurationMs)} change={change(now?.avgMs, before?.avgMs)} basis={comparison?.span} />
        {last && <Tile label={last.label} value={last.value} note={last.note} />}
      </dl>
      <div className="tiles-foot meta">
        <span className="percentiles">
          {([[50, figures.p50Ms], [95, figures.p95Ms], [99, figures.p99Ms]] as const).map(([n, ms]) => <span key={n} title={t('metrics.percentile', { n: String(n) })}>p{n} {format.duration(ms)}</span>)}
        </span>
        <Completeness coverage={coverage} />
      </div>
    </>
  );
}

function Tile({ label, value, change, basis, note }: { label: string; value: string; change?: Change | null; basis?: string | undefined; note?: string | undefined }) {
  const { t } = useTranslation(['overview', 'common']);
  return (
    <div className="tile">
      <dt className="second">{label}</dt>
      <dd>
        <strong>{value}</strong>
        {change && change.direction !== 'none' && <span className="meta number" title={basis ? t('basis', { span: basis }) : undefined}>{change.text}</span>}
        {note && <span className="meta">{note}</span>}
      </dd>
    </div>
  );
}

/** Through when every call is counted, and how many are known to be missing. */
export function Completeness({ coverage }: { coverage: Pick<Schemas['Coverage'], 'dataThrough' | 'missed'> }) {
  const { t } = useTranslation(['overview', 'common']);
  const format = useFormat();
  return (
    <span className="end">
      <span title={format.exactTime(coverage.dataThrough)}>{t('complete', { time: format.clock(coverage.dataThrough) })}</span>
      {' · '}
      <span className={coverage.missed > 0 ? 'warned' : undefined} title={coverage.missed > 0 ? t('missedWhy') : undefined}>
        {coverage.missed > 0 && <Icon name="warn" size={12} />}
        {t('missed', { n: format.count(coverage.missed) })}
      </span>
    </span>
  );
}
