import type { Schemas } from '../api/client';

export type Code = Schemas['FailureReason']['code'];

/** What one click can do about a failure. */
export type Fix = 'enable' | 'bind' | 'keys' | 'sameGroup' | 'closest' | 'example' | 'limits' | 'budgets' | 'try' | 'none';

const fixes: Record<Code, Fix> = {
  application_disabled: 'enable',
  key_expired: 'keys',
  address_not_allowed: 'keys',
  capability_not_bound: 'bind',
  capability_disabled: 'sameGroup',
  capability_unknown: 'closest',
  model_required: 'example',
  upstream_status: 'try',
  upstream_unreachable: 'try',
  upstream_timeout: 'try',
  caller_timeout: 'none',
  internal: 'try',
  overloaded: 'try',
  rate_limited: 'limits',
  concurrency_limited: 'limits',
  quota_exhausted: 'limits',
  budget_exceeded: 'budgets',
  cost_unknown: 'budgets',
  client_closed: 'none',
  upstream_closed: 'none',
  shutdown: 'none',
  invalid_path: 'none',
  request_too_large: 'none',
  invalid_request: 'none',
};

export const fixOf = (code: Code): Fix => fixes[code];

/** The capability a failed call asked for: the recorded one, else what its query says. */
export function askedFor(model: string, query: Schemas['Failure']['query']): string {
  return model !== '' ? model : ([query?.['model'] ?? []].flat()[0] ?? '');
}

/** How many characters must be changed, added or left out to make one text of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

/** At most three identifiers that somebody may have meant, the closest first. */
export function closest(asked: string, ids: readonly string[]): string[] {
  const wanted = asked.slice(0, 64).toLowerCase();
  return ids
    .map((id) => ({ id, far: id.toLowerCase().includes(wanted) && wanted.length > 2 ? 0 : distance(wanted, id.toLowerCase()) }))
    .filter(({ id, far }) => far <= Math.max(2, Math.floor(Math.max(wanted.length, id.length) / 2)))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ id }) => id);
}
