import { parseTree, type Node } from 'jsonc-parser';

/**
 * JSON without what JSON.parse loses: numbers keep every digit they were written with, names may
 * occur twice. A value is its source text, an array, or the members of an object in their order.
 */
export type Exact = string | Exact[] | { members: [name: string, value: Exact][] };

/** Reads JSON; throws as JSON.parse does where the text is none. */
export function exact(text: string): Exact {
  JSON.parse(text);
  const of = ({ type, value, offset, length, children = [] }: Node): Exact => {
    if (type === 'array') return children.map(of);
    if (type === 'object') return { members: children.map(({ children: pair }) => [pair![0]!.value as string, of(pair![1]!)]) };
    return type === 'string' ? JSON.stringify(value) : text.slice(offset, offset + length); // "\u4f60" is 你 to a person
  };
  return of(parseTree(text)!);
}

/** The value of a member, the last one of its name as JSON.parse has it; undefined without one. */
export const member = (value: Exact | undefined, name: string): Exact | undefined =>
  typeof value === 'object' && 'members' in value ? value.members.findLast(([found]) => found === name)?.[1] : undefined;

/** What JSON.stringify(value, null, indent) would write if it knew the numbers. */
export function written(value: Exact, indent = 0, depth = 1): string {
  if (typeof value === 'string') return value;
  const parts = Array.isArray(value)
    ? value.map((item) => written(item, indent, depth + 1))
    : value.members.map(([name, item]) => `${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}${written(item, indent, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (indent === 0 || parts.length === 0) return open + parts.join(',') + close;
  const line = (level: number) => `\n${' '.repeat(indent * level)}`;
  return open + line(depth) + parts.join(`,${line(depth)}`) + line(depth - 1) + close;
}

/** The same JSON, indented by two. */
export const indented = (text: string): string => written(exact(text), 2);
