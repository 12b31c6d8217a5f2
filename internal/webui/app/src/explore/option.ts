import type { EChartsCoreOption } from 'echarts/core';
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

/** What ECharts draws; no animation, no text of ours inside but axes. */
export function option(series: readonly Series[], look: Look): EChartsCoreOption {
  const { palette: p } = look;
  const text = { color: p.second, fontSize: 12 };
  return {
    animation: false,
    aria: { enabled: true, label: { enabled: false }, decal: { show: false } },
    grid: { left: 8, right: 12, top: 12, bottom: 4, containLabel: true },
    tooltip: {
      trigger: 'axis',
      confine: true,
      transitionDuration: 0,
      backgroundColor: p.surface,
      borderColor: p.line,
      textStyle: { color: p.text, fontSize: 12 },
      axisPointer: { type: look.stacked ? 'shadow' : 'line', lineStyle: { color: p.edge }, shadowStyle: { color: p.hover, opacity: 0.6 } },
      // An element, not HTML: the policy refuses style attributes in strings.
      formatter: (items: { dataIndex: number }[]) => look.tooltip(items[0]!.dataIndex),
    },
    xAxis: {
      type: 'category',
      data: look.labels,
      boundaryGap: look.stacked || look.labels.length === 1,
      axisLabel: { ...text, hideOverlap: true },
      axisLine: { lineStyle: { color: p.edge } },
      axisTick: { show: false },
    },
    yAxis: {
      type: 'value',
      min: 0,
      splitNumber: 4,
      axisLabel: { ...text, formatter: look.axis },
      splitLine: { lineStyle: { color: p.line } },
    },
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
