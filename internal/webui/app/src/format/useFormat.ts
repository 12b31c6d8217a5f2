import { useTranslation } from 'react-i18next';
import * as f from './format';

const formats = f.once((language) => ({
  language,
  count: f.count,
  rate: f.rate,
  failureRate: f.failureRate,
  time: f.time,
  clock: f.clock,
  span: f.span,
  axis: (n: number) => f.axis(n, language),
  durationAxis: (ms: number) => f.durationAxis(ms, language),
  duration: (ms: number | null | undefined) => f.duration(ms, language),
  exactTime: (rfc3339: string) => f.exactTime(rfc3339, language),
  change: (now: number | null, before: number | null) => f.change(now, before, language),
  rateChange: (now: number | null, before: number | null) => f.rateChange(now, before, language),
  weekday: (day: string) => f.weekday(day, language),
}));

/** The formats in the page's language. */
export const useFormat = () => formats(useTranslation().i18n.language as f.Language);
