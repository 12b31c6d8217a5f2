/** How figures are written. Absent values are `—`, never 0. */

export type Language = 'zh-CN' | 'en';

export const ABSENT = '—';

const grouped = new Intl.NumberFormat('en-US');

/** Made once per language: a browser takes longer to make one of its own formats than to write a hundred figures with it. */
export function once<T>(make: (language: Language) => T): (language: Language) => T {
  const made = new Map<Language, T>();
  return (language) => {
    const kept = made.get(language) ?? make(language);
    made.set(language, kept);
    return kept;
  };
}

const weekdays = once((language) => new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }));
const instants = once((language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'long' }));

/** 12,345 */
export const count = (n: number | null | undefined): string => (n == null ? ABSENT : grouped.format(n));

/** 1.2K, 3.4M; 1.2万, 3.4亿: for axes only. */
export function axis(n: number, language: Language): string {
  const steps: [number, string][] =
    language === 'zh-CN'
      ? [
          [1e8, '亿'],
          [1e4, '万'],
        ]
      : [
          [1e9, 'B'],
          [1e6, 'M'],
          [1e3, 'K'],
        ];
  const step = steps.find(([size]) => Math.abs(n) >= size);
  return step ? `${Number((n / step[0]).toFixed(1))}${step[1]}` : grouped.format(Number(n.toFixed(2)));
}

/**
 * Percent with two decimals, truncated: 100.00% only without a failure, 0.00% only without a
 * success.
 */
export function rate(successes: number, calls: number): string {
  if (calls === 0) return ABSENT;
  let hundredths = Math.floor((successes * 10_000) / calls);
  if (hundredths === 0 && successes > 0) hundredths = 1;
  return `${(hundredths / 100).toFixed(2)}%`;
}

/** Failed calls in a hundred, two decimals: 0 only without a failure, 100 only without a success; null without calls. */
export function failedPercent(failures: number, calls: number): number | null {
  if (calls === 0) return null;
  const hundredths = Math.ceil((failures * 10_000) / calls);
  return (hundredths === 10_000 && failures < calls ? 9_999 : hundredths) / 100;
}

/** The other side of rate, as text. */
export function failureRate(failures: number, calls: number): string {
  const percent = failedPercent(failures, calls);
  return percent === null ? ABSENT : `${percent.toFixed(2)}%`;
}

/** 842 ms, 3.42 s, 2 min 05 s or 2 分 05 秒; what took time but rounds to none is < 1 ms. */
export function duration(ms: number | null | undefined, language: Language): string {
  if (ms == null) return ABSENT;
  const whole = Math.round(ms);
  if (whole === 0) return '< 1 ms';
  if (whole < 1000) return `${whole} ms`;
  const hundredths = Math.round(ms / 10);
  if (hundredths < 6000) return `${(hundredths / 100).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  const rest = String(seconds % 60).padStart(2, '0');
  const minutes = grouped.format(Math.floor(seconds / 60));
  return language === 'zh-CN' ? `${minutes} 分 ${rest} 秒` : `${minutes} min ${rest} s`;
}

/** 500 ms, 1.5 s, 2 min or 2 分: for axes only. */
export function durationAxis(ms: number, language: Language): string {
  const short = (n: number) => Number(n.toFixed(1));
  if (ms === 0) return '0';
  if (ms < 1000) return `${short(ms)} ms`;
  return ms < 60_000 ? `${short(ms / 1000)} s` : `${grouped.format(short(ms / 60_000))} ${language === 'zh-CN' ? '分' : 'min'}`;
}

/** 2026-11-20 14:03:22, Beijing, whatever the zone of the browser. */
export const time = (rfc3339: string): string => beijing(rfc3339).toISOString().slice(0, 19).replace('T', ' ');

/** 14:03:22 */
export const clock = (rfc3339: string): string => time(rfc3339).slice(11);

/** With milliseconds, and what the browser's own zone says: for tooltips. */
export function exactTime(rfc3339: string, language: Language): string {
  const local = instants(language).format(new Date(rfc3339));
  return `${beijing(rfc3339).toISOString().slice(0, 23).replace('T', ' ')} +08:00 · ${local}`;
}

/** Fri, 周五 */
export const weekday = (day: string, language: Language): string => weekdays(language).format(new Date(`${day}T00:00:00Z`));

const beijing = (rfc3339: string): Date => new Date(Date.parse(rfc3339) + 8 * 3_600_000);

export interface Change {
  direction: 'up' | 'down' | 'same' | 'new' | 'none';
  text: string;
}

const signed = (n: number, digits: number): string => `${n > 0 ? '+' : n < 0 ? '−' : ''}${Math.abs(n).toFixed(digits)}`;
const directionOf = (n: number): Change['direction'] => (n > 0 ? 'up' : n < 0 ? 'down' : 'same');

/** From this multiple on a change says how many times as many: ×47 reads better than +4588%. */
const TIMES_FROM = 10;

/** +12.3%; ten times as many and more: ×47; from nothing to something: new. */
export function change(now: number | null, before: number | null, language: Language): Change {
  if (now == null || before == null) return { direction: 'none', text: ABSENT };
  if (before === 0)
    return now === 0 ? { direction: 'same', text: '0.0%' } : { direction: 'new', text: language === 'zh-CN' ? '新增' : 'new' };
  if (now / before >= TIMES_FROM) return { direction: 'up', text: `×${count(Math.round(now / before))}` };
  const percent = Number((((now - before) / before) * 100).toFixed(1));
  return { direction: directionOf(percent), text: `${signed(percent, 1)}%` };
}

/** +0.42 pp or +0.42 个百分点, of two fractions. */
export function rateChange(now: number | null, before: number | null, language: Language): Change {
  if (now == null || before == null) return { direction: 'none', text: ABSENT };
  const points = Number(((now - before) * 100).toFixed(2));
  return { direction: directionOf(points), text: `${signed(points, 2)} ${language === 'zh-CN' ? '个百分点' : 'pp'}` };
}

/** 11-14 – 11-20; with years where they differ. */
export function span(start: string, end: string): string {
  if (start === end) return start;
  return start.slice(0, 4) === end.slice(0, 4) ? `${start.slice(5)} – ${end.slice(5)}` : `${start} – ${end}`;
}
