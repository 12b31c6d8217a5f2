import './figures.css';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import type { Change } from '../format/format';
import { useFormat } from '../format/useFormat';

/** The last sixty minutes against the sixty before them. */
export function HourLine({ hours: { lastHour: now, hourBefore: before } }: { hours: Schemas['RecentHours'] }) {
  const { t } = useTranslation(['figures', 'common']);
  const format = useFormat();
  const rate = (of: Schemas['HourFigures']) => format.rate(of.calls - of.failures, of.calls);
  const failures = now.calls === 0 && before.calls === 0 ? null : format.change(now.failures, before.failures);
  return (
    <div className="hour-line" role="group" aria-label={t('hour.title')}>
      <p className="meta">{t('hour.title')}</p>
      <dl>
        <Figure
          label={t('common:metrics.calls')}
          value={format.count(now.calls)}
          before={format.count(before.calls)}
          change={format.change(now.calls, before.calls)}
        />
        <Figure
          label={t('common:metrics.failures')}
          value={format.count(now.failures)}
          before={format.count(before.failures)}
          change={failures}
          bad={now.failures > before.failures}
        />
        <Figure
          label={t('common:metrics.successRate')}
          value={rate(now)}
          before={rate(before)}
          change={format.rateChange(now.successRate, before.successRate)}
        />
        <Figure
          label={t('common:metrics.p95')}
          value={format.duration(now.p95Ms)}
          before={format.duration(before.p95Ms)}
          change={format.change(now.p95Ms, before.p95Ms)}
        />
      </dl>
    </div>
  );
}

function Figure({
  label,
  value,
  before,
  change,
  bad = false,
}: {
  label: string;
  value: string;
  before: string;
  change: Change | null;
  bad?: boolean;
}) {
  const { t } = useTranslation('figures');
  return (
    <div>
      <dt className="meta">{label}</dt>
      <dd className="number">
        <strong>{value}</strong>{' '}
        <span className={bad ? 'meta warned' : 'meta'} title={t('hour.before', { value: before })}>
          {change === null || change.direction === 'none' ? t('hour.was', { value: before }) : change.text}
        </span>
      </dd>
    </div>
  );
}
