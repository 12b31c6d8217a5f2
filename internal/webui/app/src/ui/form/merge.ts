type Value = string | readonly string[];

/** Two edits of one object, made beside each other. */
export interface Merged<T> {
  /** Theirs, and on top of it what was edited here. */
  value: T;
  /** Fields that only they changed. */
  taken: (keyof T & string)[];
  /** Fields that both changed, and differently: `value` has ours until somebody chooses. */
  both: (keyof T & string)[];
}

const same = (a: Value, b: Value): boolean =>
  typeof a === 'string' || typeof b === 'string' ? a === b : a.length === b.length && a.every((one) => b.includes(one));

/** What both made of `base`. Of a list each addition and removal counts by itself, so two edits never collide. */
export function merge<T extends { [K in keyof T]: Value }>(base: T, theirs: T, ours: T): Merged<T> {
  const merged: Merged<T> = { value: { ...theirs }, taken: [], both: [] };
  for (const field of Object.keys(base) as (keyof T & string)[]) {
    const [before, other, own] = [base[field], theirs[field], ours[field]] as [Value, Value, Value];
    if (!same(before, other)) {
      if (same(before, own) || typeof own !== 'string') merged.taken.push(field);
      else if (!same(other, own)) merged.both.push(field);
    }
    if (!same(before, own))
      merged.value[field] = (
        typeof own === 'string' ? own : ofBoth(before as readonly string[], other as readonly string[], own)
      ) as T[typeof field];
  }
  return merged;
}

const ofBoth = (base: readonly string[], theirs: readonly string[], ours: readonly string[]): string[] => [
  ...theirs.filter((one) => ours.includes(one) || !base.includes(one)),
  ...ours.filter((one) => !base.includes(one) && !theirs.includes(one)),
];
