import './chart.css';
import { lazy, Suspense, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { Money } from '../tokens/Money';
import { reported, together } from '../tokens/tokens';
import { Bones } from '../ui/page/Block';
import { CsvButton } from '../ui/table/CsvButton';
import { Counted } from '../ui/table/Counted';
import type { Measure } from './option';
import { byDay, byWeek, lastDayOf, needsWeeks, sum, type Bucket, type Day } from './series';

const load = () => import('./Chart');
const Chart = lazy(load);

/** Begins to fetch the chart's code beside the data. */
export const preloadChart = (): void => void load().catch(() => undefined); // asked for again when it is drawn

/** Where the calls of a day are, or its failures alone. */
type ToDay = (day: string, result: 'failure' | null) => string;

/** The daily chart with its switch, legend and table; days before `from` have no records. onDays is told the day that was clicked, or those that a drag chose. */
export function DailyBlock({
  title,
  days,
  previous,
  today,
  from,
  onDays,
  to,
}: {
  title: string;
  days: readonly Day[];
  previous: readonly Day[] | null;
  today: string;
  from: string;
  onDays?: ((first: string, last: string) => void) | undefined;
  to?: ToDay | undefined;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const [chosen, setMeasure] = useState<Measure>('calls');
  const [asTable, setAsTable] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(place.current?.clientWidth ?? 0), []);
  const weekly = width > 0 && needsWeeks(days.length, width - 64);
  const [now, before] = useMemo(() => {
    const cut = weekly ? byWeek : byDay;
    return [cut(days, today, from), previous ? cut(previous.slice(0, days.length), today, from) : null];
  }, [days, previous, today, from, weekly]);
  const counted = days.some((day) => reported(day.tokens));
  const measure = chosen === 'tokens' && !counted ? 'calls' : chosen;
  const totals = useMemo(() => sum(days), [days]);
  const what = t(`chart.${measure}`);
  const sentence = t('chart.sentence', {
    start: days[0]!.date,
    end: days.at(-1)!.date,
    what,
    calls: format.count(totals.calls),
    failures: format.count(totals.failures),
  });
  const onDay = onDays && ((day: string) => onDays(day, day));
  const pick = onDay ? (bucket: Bucket) => bucket.days === 1 && onDay(bucket.date) : undefined;
  const range = onDays && ((first: Bucket, last: Bucket) => onDays(first.date, lastDayOf(last)));
  return (
    <section className="block" aria-label={title}>
      <div className="block-head">
        <h2>
          {title}
          {weekly && !asTable && <span className="meta"> · {t('chart.weekly')}</span>}
        </h2>
        {!asTable && (
          <div className="choice" role="group" aria-label={t('chart.which')}>
            {(counted ? (['calls', 'rate', 'duration', 'tokens'] as const) : (['calls', 'rate', 'duration'] as const)).map((value) => (
              <button key={value} type="button" aria-pressed={value === measure} onClick={() => setMeasure(value)}>
                {t(`chart.${value}`)}
              </button>
            ))}
          </div>
        )}
        <button type="button" className="quiet" onClick={() => setAsTable(!asTable)}>
          {t(asTable ? 'chart.chart' : 'chart.table')}
        </button>
        {asTable && <CsvButton name="days" period={{ start: days[0]!.date, end: days.at(-1)!.date }} rows={days} />}
      </div>
      <div ref={place}>
        {asTable ? (
          <DaysTable title={title} days={days} today={today} from={from} onDay={onDay} to={to} />
        ) : (
          <>
            <div className="chart-place">
              {width > 0 && (
                <Suspense fallback={<Bones height={280} />}>
                  <Chart measure={measure} now={now} previous={before} sentence={sentence} onPick={pick} onRange={range} />
                </Suspense>
              )}
            </div>
            <Legend measure={measure} weekly={weekly} now={now} previous={before !== null} />
          </>
        )}
      </div>
    </section>
  );
}

/** The keys of a chart, for the eye alone: its sentence says them. */
export function Legend({
  measure,
  weekly,
  now,
  previous,
}: {
  measure: Measure;
  weekly: boolean;
  now: readonly Bucket[];
  previous: boolean;
}) {
  const { t } = useTranslation();
  const entries: [string, string][] =
    measure === 'calls'
      ? [
          ['successes', t('metrics.successes')],
          ['failures', t('metrics.failures')],
        ]
      : measure === 'rate'
        ? [['rate', t('metrics.failureRate')]]
        : measure === 'tokens'
          ? [
              ['avg', t('tokens.input')],
              ['p50', t('tokens.output')],
            ]
          : [['avg', measure === 'firstByte' ? t('chart.firstByteAvg') : t('metrics.avg')]];
  if ((measure === 'duration' || measure === 'firstByte') && !weekly)
    entries.push(['p50', t('metrics.p50')], ['p95', t('metrics.p95')], ['p99', t('metrics.p99')]);
  if (measure === 'calls' && now.some(({ open }) => open)) entries.push(['soFar', t('chart.soFar')]);
  if (measure === 'calls' && now.some(({ open, part, known }) => part && known && !open)) entries.push(['soFar', t('chart.part')]);
  if (previous) entries.push(['previous', t('chart.previous')]);
  return (
    <div className="legend meta" aria-hidden="true">
      {entries.map(([key, words]) => (
        <span key={key}>
          <i data-of={key} />
          {words}
        </span>
      ))}
    </div>
  );
}

function DaysTable({
  title,
  days,
  today,
  from,
  onDay,
  to,
}: {
  title: string;
  days: readonly Day[];
  today: string;
  from: string;
  onDay?: ((day: string) => void) | undefined;
  to?: ToDay | undefined;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const counted = days.some((day) => reported(day.tokens));
  const priced = days.some((day) => day.cost.some(({ amount }) => amount !== null));
  return (
    <div className="chart-days" tabIndex={0} role="region" aria-label={t('chart.tableOf', { title })}>
      <table className="table">
        <caption className="unseen">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t('chart.day')}</th>
            {(['calls', 'failures', 'successRate', 'avg', 'p50', 'p95', 'p99'] as const).map((key) => (
              <th key={key} scope="col" className="right">
                {t(`metrics.${key}`)}
              </th>
            ))}
            {counted && (
              <th scope="col" className="right">
                {t('tokens.tokens')}
              </th>
            )}
            {priced && (
              <th scope="col" className="right">
                {t('tokens.cost')}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {[...days].reverse().map((day) => (
            <tr key={day.date}>
              <td className="number">
                {onDay ? (
                  <button type="button" className="quiet" onClick={() => onDay(day.date)}>
                    {day.date} {format.weekday(day.date)}
                  </button>
                ) : (
                  `${day.date} ${format.weekday(day.date)}`
                )}
                {day.date === today && <span className="meta"> {t('chart.soFar')}</span>}
              </td>
              <td className="right">
                <Counted n={day.date < from ? null : day.calls} to={to?.(day.date, null)} />
              </td>
              <td className="right">
                <Counted n={day.date < from ? null : day.failures} to={to?.(day.date, 'failure')} />
              </td>
              <td className="right">{format.rate(day.successes, day.calls)}</td>
              {([day.avgDurationMs, day.p50Ms, day.p95Ms, day.p99Ms] as const).map((ms, n) => (
                <td key={n} className="right">
                  {format.duration(ms)}
                </td>
              ))}
              {counted && <td className="right">{format.count(together(day.tokens))}</td>}
              {priced && (
                <td className="right">
                  <Money cost={day.cost} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
