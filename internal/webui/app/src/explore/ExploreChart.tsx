import { useEffect, useRef } from 'react';
import { init, type EChartsType } from '../chart/echarts';
import { useFormat } from '../format/useFormat';
import { palettes, useDark } from '../ui/page/theme';
import { colorsOf } from './colors';
import { option, type Series } from './option';
import type { kindOf } from './question';

/** Groups by time. Its sentence stands in for it; the table below says the same. */
export default function ExploreChart({
  parts,
  series,
  stacked,
  kind,
  sentence,
  write,
}: {
  /** When each part begins. */
  parts: readonly string[];
  series: readonly Series[];
  stacked: boolean;
  kind: ReturnType<typeof kindOf>;
  sentence: string;
  write: (n: number | null) => string;
}) {
  const format = useFormat();
  const dark = useDark();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);
  useEffect(() => {
    const drawing = init(place.current!);
    chart.current = drawing;
    const resize = new ResizeObserver(() => drawing.resize());
    resize.observe(place.current!);
    return () => {
      resize.disconnect();
      drawing.dispose();
    };
  }, []);
  useEffect(() => {
    const hourly = parts.length > 1 && parts[0]!.slice(0, 10) === parts[1]!.slice(0, 10);
    const tooltip = (index: number): HTMLElement => {
      const box = document.createElement('div');
      const at = parts[index]!;
      box.append(
        Object.assign(document.createElement('strong'), {
          textContent: hourly ? `${at.slice(0, 10)} ${at.slice(11, 16)}` : at.slice(0, 10),
        }),
      );
      const list = Object.assign(document.createElement('dl'), { className: 'tip' });
      for (const { name, values } of series) {
        if (stacked && (values[index] ?? 0) === 0) continue;
        list.append(
          Object.assign(document.createElement('dt'), { textContent: name }),
          Object.assign(document.createElement('dd'), { textContent: write(values[index] ?? null) }),
        );
      }
      box.append(list);
      return box;
    };
    chart.current!.setOption(
      option(series, {
        palette: dark ? palettes.dark : palettes.light,
        colors: colorsOf(dark, series.length),
        stacked,
        axis: kind === 'rate' ? (n) => `${Number((n * 100).toFixed(2))}%` : kind === 'duration' ? format.durationAxis : format.axis,
        labels: parts.map((at) => (hourly ? at.slice(11, 16) : at.slice(5, 10))),
        tooltip,
      }),
      { notMerge: true },
    );
  }, [parts, series, stacked, kind, dark, format, write]);
  return <div ref={place} className="chart" role="img" aria-label={sentence} data-drawn={parts.length} />;
}
