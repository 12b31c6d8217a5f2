import type { EChartsCoreOption } from 'echarts/core';
import { failedPercent } from '../format/format';
import { together } from '../tokens/tokens';
import type { palettes } from '../ui/page/theme';
import { frame } from './frame';
import type { Bucket } from './series';

export type Measure = 'calls' | 'rate' | 'duration' | 'firstByte' | 'tokens';

/** What of the page a chart needs: colours, words and formats. */
export interface Look {
  palette: (typeof palettes)['light' | 'dark'];
  words: {
    successes: string;
    failures: string;
    failureRate: string;
    avg: string;
    p50: string;
    p95: string;
    p99: string;
    input: string;
    output: string;
    previous: string;
  };
  axis: (n: number) => string;
  durationAxis: (ms: number) => string;
  tooltip: (index: number) => HTMLElement;
  /** What stands under a bar. */
  label: (bucket: Bucket) => string;
}

const stripes = (color: string) => ({ symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 3], rotation: -Math.PI / 4, color });

/** What ECharts draws; no animation, no text of ours inside but axes. */
export function option(measure: Measure, now: Bucket[], previous: Bucket[] | null, look: Look): EChartsCoreOption {
  const { palette: p, words } = look;
  const wording =
    measure === 'rate'
      ? (n: number) => `${Number(n.toFixed(3))}%`
      : measure === 'duration' || measure === 'firstByte'
        ? look.durationAxis
        : look.axis;
  return {
    ...frame(
      p,
      now.map(look.label),
      { bars: measure === 'calls', axis: wording, tooltip: look.tooltip },
      {
        ...(measure === 'rate' && now.every((bucket) => bucket.failures === 0) ? { max: 1 } : {}),
        ...(measure === 'calls' ? { minInterval: 1 } : {}),
      },
    ),
    series: measure === 'calls' ? bars(now, previous, look) : lines(measure, now, previous, look, words),
  };
}

// What the pointer is on keeps its colour.
const unfaded = { emphasis: { disabled: true } };

// Lower than this share of the highest bar, the pattern of failures would be a dashed line.
const PATTERN_FROM = 0.05;
const dots = (color: string) => ({ symbol: 'circle', dashArrayX: [4, 4], dashArrayY: [4, 4], symbolSize: 0.6, color });

/**
 * Bars that look alike are a series of their own, stacked with the others: where single bars have a pattern, ECharts
 * draws a canvas for each of them.
 */
function bars(now: Bucket[], previous: Bucket[] | null, { palette: p, words }: Look): object[] {
  const highest = Math.max(...now.map((bucket) => bucket.calls));
  const bar = { type: 'bar', stack: 'now', barMaxWidth: 40, barCategoryGap: '33%', ...unfaded };
  const successes = (these: (bucket: Bucket) => boolean, itemStyle: object) => ({
    ...bar,
    name: words.successes,
    data: now.map((bucket) => (bucket.known && these(bucket) ? bucket.successes : null)),
    itemStyle,
  });
  const failures = (these: (bucket: Bucket) => boolean, pattern: object) => ({
    ...bar,
    name: words.failures,
    data: now.map((bucket) => (bucket.failures > 0 && these(bucket) ? bucket.failures : null)),
    barMinHeight: 3, // however few, they are seen
    itemStyle: { color: p.barFailed, borderColor: p.surface, borderWidth: 0.5, ...pattern },
  });
  const unfinished = ({ open, part }: Bucket) => open || part;
  const many = (bucket: Bucket) => bucket.failures >= highest * PATTERN_FROM;
  const list: object[] = [successes((bucket) => !unfinished(bucket), { color: p.bar })];
  if (now.some(unfinished))
    list.push(successes(unfinished, { color: p.primaryBg, borderColor: p.bar, borderWidth: 1, decal: stripes(p.bar) }));
  list.push(failures((bucket) => !many(bucket), {}));
  if (now.some(many)) list.push(failures(many, { decal: dots(p.surface) }));
  if (previous)
    list.push(
      earlier(
        words.previous,
        previous.map((bucket) => (bucket.known ? bucket.calls : null)),
        p.previous,
      ),
    );
  return list;
}

function lines(measure: Measure, now: Bucket[], previous: Bucket[] | null, { palette: p }: Look, words: Look['words']): object[] {
  const line = (name: string, data: (number | null)[], color: string, type: string | number[]) => ({
    type: 'line',
    name,
    data,
    connectNulls: false,
    showSymbol: now.length <= 31,
    symbolSize: 5,
    ...unfaded,
    lineStyle: { color, width: 2, type },
    itemStyle: { color },
  });
  const percent = (buckets: Bucket[]) => buckets.map(({ failures, calls }) => failedPercent(failures, calls));
  if (measure === 'rate') {
    const list: object[] = [line(words.failureRate, percent(now), p.barFailed, 'solid')];
    return previous ? [...list, earlier(words.previous, percent(previous), p.previous)] : list;
  }
  if (measure === 'tokens') {
    const list: object[] = [
      line(
        words.input,
        now.map((bucket) => bucket.input),
        p.bar,
        'solid',
      ),
      line(
        words.output,
        now.map((bucket) => bucket.output),
        p.ok,
        'dashed',
      ),
    ];
    return previous
      ? [
          ...list,
          earlier(
            words.previous,
            previous.map((bucket) => together(bucket)),
            p.previous,
          ),
        ]
      : list;
  }
  const list: object[] = [
    line(
      words.avg,
      now.map((bucket) => bucket.avgMs),
      p.bar,
      'solid',
    ),
  ];
  if (now.every((bucket) => bucket.days === 1)) {
    list.push(
      line(
        words.p50,
        now.map((bucket) => bucket.p50Ms),
        p.ok,
        'dashed',
      ),
      line(
        words.p95,
        now.map((bucket) => bucket.p95Ms),
        p.warn,
        'dotted',
      ),
    );
    list.push(
      line(
        words.p99,
        now.map((bucket) => bucket.p99Ms),
        p.failed,
        [8, 3, 2, 3],
      ),
    );
  }
  return previous
    ? [
        ...list,
        earlier(
          words.previous,
          previous.map((bucket) => bucket.avgMs),
          p.previous,
        ),
      ]
    : list;
}

const earlier = (name: string, data: (number | null)[], color: string) => ({
  type: 'line',
  name,
  data,
  connectNulls: false,
  showSymbol: false,
  silent: true,
  lineStyle: { color, width: 1.5, type: 'dashed' },
  itemStyle: { color },
});
