import type { palettes } from '../ui/page/theme';

/** What all charts have around their series: axes, grid and tooltip; no animation, no text of ours inside but axes. */
export function frame(
  p: (typeof palettes)['light' | 'dark'],
  labels: string[],
  { bars, axis, tooltip }: { bars: boolean; axis: (n: number) => string; tooltip: (index: number) => HTMLElement },
  yAxis: object = {},
) {
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
      axisPointer: { type: bars ? 'shadow' : 'line', lineStyle: { color: p.edge }, shadowStyle: { color: p.hover, opacity: 0.6 } },
      // An element, not HTML: the policy refuses style attributes in strings.
      formatter: (items: { dataIndex: number }[]) => tooltip(items[0]!.dataIndex),
    },
    xAxis: {
      type: 'category',
      data: labels,
      boundaryGap: bars || labels.length === 1,
      axisLabel: { ...text, hideOverlap: true },
      axisLine: { lineStyle: { color: p.edge } },
      axisTick: { show: false },
    },
    yAxis: {
      type: 'value',
      min: 0,
      splitNumber: 4,
      axisLabel: { ...text, formatter: axis },
      splitLine: { lineStyle: { color: p.line } },
      ...yAxis,
    },
  };
}
