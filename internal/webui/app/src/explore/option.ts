import type { EChartsCoreOption } from 'echarts/core';
import { frame } from '../chart/frame';
import type { palettes } from '../ui/page/theme';

/** A group's values, or those of the others. */
export interface Series {
  name: string;
  values: (number | null)[];
}

/** What of the page the chart needs. */
export interface Look {
  palette: (typeof palettes)['light' | 'dark'];
  colors: readonly string[];
  /** Values that add up stand on one another, others beside. */
  stacked: boolean;
  axis: (n: number) => string;
  labels: string[];
  tooltip: (index: number) => HTMLElement;
}

/** Strokes tell lines apart for those who see no colours. */
const STROKES = ['solid', 'dashed', 'dotted', [8, 3, 2, 3]] as const;

/** What ECharts draws. */
export function option(series: readonly Series[], look: Look): EChartsCoreOption {
  const { palette: p } = look;
  return {
    ...frame(p, look.labels, { bars: look.stacked, axis: look.axis, tooltip: look.tooltip }),
    series: series.map(({ name, values }, n) =>
      look.stacked
        ? {
            type: 'bar',
            stack: 'all',
            name,
            data: values,
            barMaxWidth: 40,
            barCategoryGap: '33%',
            itemStyle: { color: look.colors[n], borderColor: p.surface, borderWidth: 0.5 },
            emphasis: { disabled: true },
          }
        : {
            type: 'line',
            name,
            data: values,
            symbolSize: 5, // a value between two parts without any is seen too
            connectNulls: false,
            lineStyle: { color: look.colors[n], width: 2, type: STROKES[n % STROKES.length] },
            itemStyle: { color: look.colors[n] },
            emphasis: { disabled: true },
          },
    ),
  };
}
