import '../chart/chart.css';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { Bucket } from '../chart/series';
import { Legend } from '../chart/DailyBlock';
import { useFormat } from '../format/useFormat';
import { Block, Bones } from '../ui/page/Block';
import { CsvButton } from '../ui/table/CsvButton';
import { Counted } from '../ui/table/Counted';
import { boundsOf, byHour } from './hours';
import { whyQueries, type Hour } from './queries';

const Chart = lazy(() => import('../chart/Chart'));

const measures = ['calls', 'rate', 'duration', 'firstByte'] as const;
type Measure = (typeof measures)[number];

/** Where an hour's calls are: `from` and `to` are times of the day. */
type Where = (hour: { from: string; to: string; result: 'failure' | null }) => string;

/** One day by the hour. `to` says where an hour, clicked or chosen in the table, or hours that a drag chose, lead. */
export default function HourlyBlock({
  applicationId,
  day,
  today,
  to,
}: {
  applicationId: string | null;
  day: string;
  today: string;
  to: Where;
}) {
  const { t } = useTranslation(['common']);
  const navigate = useNavigate();
  const format = useFormat();
  const query = useQuery(whyQueries.hourly(applicationId, day, day === today));
  const [measure, setMeasure] = useState<Measure>('calls');
  const [asTable, setAsTable] = useState(false);
  const data = query.data;
  const now = useMemo(
    () =>
      data
        ? byHour(data.hours, {
            now: data.answeredAt,
            collectedSince: data.collectedSince,
            span: measure === 'firstByte' ? 'firstByte' : 'whole',
          })
        : [],
    [data, measure],
  );
  const pick = ({ label }: Bucket) => {
    const hour = data?.hours.find((one) => boundsOf(one).from === label);
    if (hour && hour.calls > 0) void navigate(to({ ...boundsOf(hour), result: null }));
  };
  const range = (first: Bucket, last: Bucket) => {
    const hours = data?.hours.filter((one) => boundsOf(one).from >= first.label! && boundsOf(one).from <= last.label!) ?? [];
    if (hours.some(({ calls }) => calls > 0))
      void navigate(to({ from: boundsOf(hours[0]!).from, to: boundsOf(hours.at(-1)!).to, result: null }));
  };
  const title = t('chart.hourly', { day: `${day} ${format.weekday(day)}` });
  const sentence = t('chart.hourSentence', {
    day,
    what: t(`chart.${measure}`),
    calls: format.count(now.reduce((sum, { calls }) => sum + calls, 0)),
    failures: format.count(now.reduce((sum, { failures }) => sum + failures, 0)),
  });
  return (
    <section className="block" aria-label={title}>
      <div className="block-head">
        <h2>{title}</h2>
        {!asTable && (
          <div className="choice" role="group" aria-label={t('chart.which')}>
            {measures.map((value) => (
              <button key={value} type="button" aria-pressed={value === measure} onClick={() => setMeasure(value)}>
                {t(`chart.${value}`)}
              </button>
            ))}
          </div>
        )}
        <button type="button" className="quiet" onClick={() => setAsTable(!asTable)}>
          {t(asTable ? 'chart.chart' : 'chart.table')}
        </button>
        {asTable && data && (
          <CsvButton
            name="hours"
            period={{ start: day, end: day }}
            rows={data.hours.filter(({ hour }) => Date.parse(hour) <= data.answeredAt)}
          />
        )}
      </div>
      <Block query={query} height={304}>
        {({ hours, answeredAt }) =>
          asTable ? (
            <HoursTable title={title} hours={hours.filter(({ hour }) => Date.parse(hour) <= answeredAt)} to={to} />
          ) : (
            <>
              <div className="chart-place">
                <Suspense fallback={<Bones height={280} />}>
                  <Chart measure={measure} now={now} previous={null} sentence={sentence} onPick={pick} onRange={range} />
                </Suspense>
              </div>
              <Legend measure={measure} weekly={false} now={now} previous={false} />
            </>
          )
        }
      </Block>
    </section>
  );
}

function HoursTable({ title, hours, to }: { title: string; hours: readonly Hour[]; to: Where }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <div className="chart-days" tabIndex={0} role="region" aria-label={t('chart.tableOf', { title })}>
      <table className="table">
        <caption className="unseen">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t('chart.hour')}</th>
            {(['calls', 'failures', 'successRate', 'avg', 'p50', 'p95'] as const).map((key) => (
              <th key={key} scope="col" className="right">
                {t(`metrics.${key}`)}
              </th>
            ))}
            <th scope="col" className="right">
              {t('chart.firstByte')} p50
            </th>
            <th scope="col" className="right">
              {t('chart.firstByte')} p95
            </th>
          </tr>
        </thead>
        <tbody>
          {[...hours].reverse().map((hour) => {
            const { from, to: end } = boundsOf(hour);
            return (
              <tr key={hour.hour}>
                <td className="number">
                  {from} – {end}
                </td>
                <td className="right">
                  <Counted n={hour.calls} to={to({ ...boundsOf(hour), result: null })} />
                </td>
                <td className="right">
                  <Counted n={hour.failures} to={to({ ...boundsOf(hour), result: 'failure' })} />
                </td>
                <td className="right">{format.rate(hour.successes, hour.calls)}</td>
                {([hour.avgDurationMs, hour.p50Ms, hour.p95Ms, hour.firstByte.p50Ms, hour.firstByte.p95Ms] as const).map((ms, n) => (
                  <td key={n} className="right">
                    {format.duration(ms)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
