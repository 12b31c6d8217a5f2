import { useEffect } from 'react';
import { tip } from '../chart/tip';
import { useDrag } from '../chart/useDrag';
import { useDrawing } from '../chart/useDrawing';
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
  onRange,
}: {
  /** When each part begins. */
  parts: readonly string[];
  series: readonly Series[];
  stacked: boolean;
  kind: ReturnType<typeof kindOf>;
  sentence: string;
  write: (n: number | null) => string;
  /** Told the first and the last part that a drag chose. */
  onRange?: ((first: number, last: number) => void) | undefined;
}) {
  const format = useFormat();
  const dark = useDark();
  const [place, chart] = useDrawing();
  const drag = useDrag(place, chart, parts.length, onRange);
  useEffect(() => {
    const hourly = parts.length > 1 && parts[0]!.slice(0, 10) === parts[1]!.slice(0, 10);
    const tooltip = (index: number): HTMLElement => {
      const at = parts[index]!;
      const some = series.filter(({ values }) => !stacked || (values[index] ?? 0) !== 0);
      return tip(
        hourly ? `${at.slice(0, 10)} ${at.slice(11, 16)}` : at.slice(0, 10),
        some.map(({ name, values }) => [name, write(values[index] ?? null)]),
      );
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
  }, [parts, series, stacked, kind, dark, format, write, chart]);
  return (
    <>
      <div ref={place} className="chart" role="img" aria-label={sentence} {...drag.attributes} data-drawn={parts.length} />
      {drag.band}
    </>
  );
}
