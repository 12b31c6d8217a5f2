import type { Schemas } from '../../api/client';

type Entry = Schemas['AuditEntry'];

/** Entries that say the same of the same thing, one after another. */
export interface Repeated {
  /** The newest of them. */
  entry: Entry;
  times: number;
  /** When the oldest of them was, RFC 3339. */
  since: string;
}

const same = (a: Entry, b: Entry): boolean =>
  a.actor === b.actor &&
  a.action === b.action &&
  a.targetType === b.targetType &&
  a.targetId === b.targetId &&
  JSON.stringify(a.changes) === JSON.stringify(b.changes);

/** Folds repeats of a trail that is read newest first. */
export function folded(entries: readonly Entry[]): Repeated[] {
  const rows: Repeated[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    if (last && same(last.entry, entry)) Object.assign(last, { times: last.times + 1, since: entry.at });
    else rows.push({ entry, times: 1, since: entry.at });
  }
  return rows;
}

export interface Move {
  id: string;
  /** Places from 1. */
  from: number;
  to: number;
}

/** What was moved between two orders of the same things: one where one explains it, else all whose place changed. */
export function moves(from: readonly string[], to: readonly string[]): Move[] {
  const at = from.findIndex((id, n) => id !== to[n]);
  const move = (id: string): Move => ({ id, from: from.indexOf(id) + 1, to: to.indexOf(id) + 1 });
  if (at < 0) return [];
  const alone = [to[at]!, from[at]!].find(
    (id) => from.filter((other) => other !== id).join('\n') === to.filter((other) => other !== id).join('\n'),
  );
  return alone === undefined ? to.filter((id, n) => from[n] !== id).map(move) : [move(alone)];
}

export interface MemberTold {
  id: string;
  priority: string;
  weight: string;
  status: 'enabled' | 'disabled';
}

/** What the trail says of the upstreams of a capability, taken apart; null when it says something else. */
export function membersOf(text: string): MemberTold[] | null {
  const all: MemberTold[] = [];
  for (const one of text.split(/(?<=\)), /)) {
    const [, id, priority, weight, status] = /^(\S+) \(priority (\d+), weight (\d+), (enabled|disabled)\)$/.exec(one) ?? [];
    if (id === undefined) return null;
    all.push({ id, priority: priority!, weight: weight!, status: status as MemberTold['status'] });
  }
  return all;
}
