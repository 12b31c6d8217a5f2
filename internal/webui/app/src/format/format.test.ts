import { expect, test } from 'vitest';
import { axis, change, count, duration, durationAxis, failureRate, rate, rateChange, span, time } from './format';

const each = <A extends unknown[]>(name: string, f: (...args: A) => string, cases: [A, string][]) =>
  test(name, () => {
    for (const [args, expected] of cases) expect(f(...args), JSON.stringify(args)).toBe(expected);
  });

each('counts are grouped and an absent one is a dash, not 0', count, [
  [[0], '0'],
  [[12345], '12,345'],
  [[1234567], '1,234,567'],
  [[null], '—'],
  [[undefined], '—'],
]);
each('axes are short in the units of the language', axis, [
  [[0, 'en'], '0'],
  [[950, 'en'], '950'],
  [[1200, 'en'], '1.2K'],
  [[2_000_000, 'en'], '2M'],
  [[1200, 'zh-CN'], '1,200'],
  [[12_000, 'zh-CN'], '1.2万'],
  [[340_000_000, 'zh-CN'], '3.4亿'],
]);
each('100.00% means no failure and 0.00% no success', rate, [
  [[0, 0], '—'],
  [[5, 5], '100.00%'],
  [[0, 5], '0.00%'],
  [[2, 3], '66.66%'],
  [[999_999, 1_000_000], '99.99%'],
  [[1, 1_000_000], '0.01%'],
  [[9987, 10_000], '99.87%'],
]);
each('0.00% failed means no failure and 100.00% no success', failureRate, [
  [[0, 0], '—'],
  [[0, 5], '0.00%'],
  [[5, 5], '100.00%'],
  [[1, 3], '33.34%'],
  [[1, 1_000_000], '0.01%'],
  [[999_999, 1_000_000], '99.99%'],
]);
each('durations change unit without an impossible figure in between', duration, [
  [[null, 'en'], '—'],
  [[0, 'en'], '< 1 ms'],
  [[0.4, 'zh-CN'], '< 1 ms'],
  [[0.6, 'en'], '1 ms'],
  [[842.3, 'en'], '842 ms'],
  [[999.4, 'en'], '999 ms'],
  [[999.6, 'en'], '1.00 s'],
  [[3420, 'en'], '3.42 s'],
  [[59_994, 'en'], '59.99 s'],
  [[59_996, 'en'], '1 min 00 s'],
  [[125_000, 'en'], '2 min 05 s'],
  [[125_000, 'zh-CN'], '2 分 05 秒'],
]);
each('durations of axes have no digits that say nothing', durationAxis, [
  [[0, 'en'], '0'],
  [[500, 'en'], '500 ms'],
  [[1000, 'en'], '1 s'],
  [[2500, 'en'], '2.5 s'],
  [[120_000, 'en'], '2 min'],
  [[120_000, 'zh-CN'], '2 分'],
]);
each('times are Beijing times in every zone', time, [
  [['2026-11-20T14:03:22.120+08:00'], '2026-11-20 14:03:22'],
  [['2026-11-20T16:30:00Z'], '2026-11-21 00:30:00'],
]);
each('changes are signed', (now: number | null, before: number | null, language: 'en' | 'zh-CN') => change(now, before, language).text, [
  [[112.3, 100, 'en'], '+12.3%'],
  [[90, 100, 'en'], '−10.0%'],
  [[100, 100, 'en'], '0.0%'],
  [[0, 0, 'en'], '0.0%'],
  [[999, 100, 'en'], '+899.0%'],
  [[4688, 100, 'en'], '×47'],
  [[5_000_000, 1, 'en'], '×5,000,000'],
  [[5, 0, 'en'], 'new'],
  [[5, 0, 'zh-CN'], '新增'],
  [[null, 5, 'en'], '—'],
  [[5, null, 'en'], '—'],
]);
each(
  'rates change by points',
  (now: number | null, before: number | null, language: 'en' | 'zh-CN') => rateChange(now, before, language).text,
  [
    [[0.9987, 0.9945, 'en'], '+0.42 pp'],
    [[0.5, 0.75, 'zh-CN'], '−25.00 个百分点'],
    [[null, 1, 'en'], '—'],
  ],
);
each('a span names years only where they differ', span, [
  [['2026-11-14', '2026-11-20'], '11-14 – 11-20'],
  [['2025-12-30', '2026-01-05'], '2025-12-30 – 2026-01-05'],
  [['2026-11-20', '2026-11-20'], '2026-11-20'],
]);
