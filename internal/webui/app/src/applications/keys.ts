import type { Schemas } from '../api/client';
import { changed, limitsOf, typedOf, type Typed as TypedLimits } from '../limits/limits';

export type Key = Schemas['Key'];

/** How many keys an application has at most. */
export const MOST_KEYS = 5;

/** The form's fields as they are typed. */
export interface Typed extends TypedLimits {
  name: string;
  /** As a datetime-local field has it, in Beijing; empty: never. */
  expires: string;
  /** An address or CIDR a line. */
  addresses: string;
}

export const fresh: Typed = { name: '', expires: '', addresses: '', ...typedOf(null) };

export const stored = (key: Key): Typed => ({
  name: key.name,
  expires: key.expiresAt === null ? '' : key.expiresAt.slice(0, 16),
  addresses: key.allowedCidrs.join('\n'),
  ...typedOf(key.limits),
});

const addressesOf = (typed: Typed): string[] => typed.addresses.split(/[\s,]+/).filter((line) => line !== '');

/** What is typed, as the API takes it; of a key that is edited, what was changed. */
export function draft(typed: Typed, before: Typed = fresh): Schemas['KeyEdit'] {
  const limits = changed(limitsOf(before), typed);
  return {
    ...(typed.name === before.name ? {} : { name: typed.name.trim() }),
    ...(typed.expires === before.expires ? {} : { expiresAt: typed.expires === '' ? null : `${typed.expires}:00+08:00` }),
    ...(typed.addresses === before.addresses ? {} : { allowedCidrs: addressesOf(typed) }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

const SOON = 72 * 3_600_000;

/** How a key's end stands at an instant. */
export function ending(key: Pick<Key, 'expiresAt'>, now: number): 'never' | 'later' | 'soon' | 'expired' {
  if (key.expiresAt === null) return 'never';
  const left = Date.parse(key.expiresAt) - now;
  return left <= 0 ? 'expired' : left <= SOON ? 'soon' : 'later';
}
