import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { together } from '../tokens/tokens';
import { palettes, useDark } from '../ui/page/theme';
import { option, type Look, type Measure } from './option';
import type { Bucket } from './series';
import { tip } from './tip';
import { useDrag } from './useDrag';
import { useDrawing } from './useDrawing';

/** Up to so many days there is room for their weekdays. */
const LABELLED = 31;

/** The canvas. Its sentence stands in for it; the table view is for the keyboard. */
export default function Chart({
  measure,
  now,
  previous,
  sentence,
  onPick,
  onRange,
}: {
  measure: Measure;
  now: Bucket[];
  previous: Bucket[] | null;
  sentence: string;
  onPick?: ((bucket: Bucket) => void) | undefined;
  /** Told what a drag chose. */
  onRange?: ((first: Bucket, last: Bucket) => void) | undefined;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const dark = useDark();
  const [place, chart] = useDrawing();
  const drag = useDrag(place, chart, now.length, onRange && ((first, last) => onRange(now[first]!, now[last]!)));
  const picked = useRef(onPick);
  useEffect(() => {
    picked.current = onPick;
  });

  useEffect(() => {
    const drawing = chart.current!;
    const look: Look = {
      palette: dark ? palettes.dark : palettes.light,
      words: {
        successes: t('metrics.successes'),
        failures: t('metrics.failures'),
        failureRate: t('metrics.failureRate'),
        avg: t('metrics.avg'),
        p50: t('metrics.p50'),
        p95: t('metrics.p95'),
        p99: t('metrics.p99'),
        input: t('tokens.input'),
        output: t('tokens.output'),
        previous: t('chart.previous'),
      },
      axis: format.axis,
      label: (bucket) =>
        bucket.label ??
        (bucket.days === 1 && now.length <= LABELLED ? `${bucket.date.slice(5)}\n${format.weekday(bucket.date)}` : bucket.date.slice(5)),
      durationAxis: format.durationAxis,
      tooltip: (index) => {
        const bucket = now[index]!;
        const was = previous?.[index];
        const rows: [string, string][] = [
          [t('metrics.calls'), format.count(bucket.known ? bucket.calls : null)],
          [t('metrics.failures'), format.count(bucket.known ? bucket.failures : null)],
          measure === 'rate'
            ? [t('metrics.failureRate'), format.failureRate(bucket.failures, bucket.calls)]
            : [t('metrics.successRate'), format.rate(bucket.successes, bucket.calls)],
          [measure === 'firstByte' ? t('chart.firstByteAvg') : t('metrics.avg'), format.duration(bucket.avgMs)],
        ];
        if ((measure === 'duration' || measure === 'firstByte') && bucket.p50Ms !== null)
          rows.push(['p50', format.duration(bucket.p50Ms)], ['p95', format.duration(bucket.p95Ms)], ['p99', format.duration(bucket.p99Ms)]);
        if (together(bucket) !== null)
          rows.push([t('tokens.input'), format.count(bucket.input)], [t('tokens.output'), format.count(bucket.output)]);
        if (was)
          rows.push([
            `${t('chart.previous')} ${was.date.slice(5)}`,
            measure === 'rate'
              ? format.failureRate(was.failures, was.calls)
              : measure === 'duration'
                ? format.duration(was.avgMs)
                : format.count(measure === 'tokens' ? together(was) : was.calls),
          ]);
        const day =
          bucket.label !== undefined
            ? `${bucket.date} ${bucket.label}`
            : bucket.days === 1
              ? `${bucket.date} ${format.weekday(bucket.date)}`
              : t('chart.week', { start: bucket.date });
        return tip(
          !bucket.known
            ? `${day} · ${t('chart.unknown')}`
            : bucket.open
              ? `${day} · ${t('chart.soFar')}`
              : bucket.part
                ? `${day} · ${t('chart.part')}`
                : day,
          rows,
        );
      },
    };
    drawing.setOption(option(measure, now, previous, look), { notMerge: true });
    drawing.getZr().off('click');
    drawing.getZr().on('click', (event) => {
      const at = drawing.convertFromPixel({ xAxisIndex: 0 }, event.offsetX);
      const bucket = drawing.containPixel('grid', [event.offsetX, event.offsetY]) ? now[Math.round(Number(at))] : undefined;
      if (bucket) picked.current?.(bucket);
    });
  }, [measure, now, previous, dark, format, t, chart]);

  return (
    <>
      <div ref={place} className="chart" role="img" aria-label={sentence} {...drag.attributes} data-drawn={now.length} />
      {drag.band}
    </>
  );
}
