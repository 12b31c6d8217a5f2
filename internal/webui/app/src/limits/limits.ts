import type { Schemas } from '../api/client';

export type Limits = Schemas['Limits'];
export type LimitName = Schemas['LimitName'];
export type LimitUsage = Schemas['LimitUsage'];

/** The limits, in the order they are shown in. */
export const LIMITS: readonly LimitName[] = ['requestsPerMinute', 'tokensPerMinute', 'concurrency', 'callsPerDay', 'tokensPerDay'];

/** The greatest limit there is. */
export const MOST = 1_000_000_000_000;

/** The form's fields as they are typed; empty is no limit. */
export type Typed = Record<LimitName, string>;

const each = <T>(make: (name: LimitName) => T): Record<LimitName, T> =>
  Object.fromEntries(LIMITS.map((name) => [name, make(name)])) as Record<LimitName, T>;

export const typedOf = (limits: Limits | null): Typed => each((name) => (limits?.[name] == null ? '' : String(limits[name])));

/** A number as people write it, 12,000 or 12 000 too; null for an empty field, undefined for what is none. */
export function parse(text: string): number | null | undefined {
  const digits = text.replace(/[\s,_，]/g, '');
  if (digits === '') return null;
  const n = /^\d{1,16}$/.test(digits) ? Number(digits) : 0;
  return n >= 1 && n <= MOST ? n : undefined;
}

/** What of the fields is no limit. */
export const wrong = (typed: Typed): LimitName[] => LIMITS.filter((name) => parse(typed[name]) === undefined);

/** What is typed, as the API takes it. */
export const limitsOf = (typed: Typed): Limits => each((name) => parse(typed[name]) ?? null);

/** What differs from what is stored. */
export function changed(stored: Limits, typed: Typed): Schemas['LimitsEdit'] {
  const now = limitsOf(typed);
  return Object.fromEntries(LIMITS.filter((name) => now[name] !== stored[name]).map((name) => [name, now[name]]));
}

/** How much of a limit is used, 0 to 1, with what that means; null where it is not known. */
export function level({ used, limit }: Pick<LimitUsage, 'used' | 'limit'>): { share: number; state: 'ok' | 'near' | 'reached' } | null {
  if (used === null || limit === null) return null;
  const share = Math.min(1, used / limit);
  return { share, state: share >= 1 ? 'reached' : share >= 0.8 ? 'near' : 'ok' };
}
