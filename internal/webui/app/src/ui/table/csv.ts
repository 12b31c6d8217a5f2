/**
 * Files as those that the server writes: known to be UTF-8 by their byte order mark, with lines that end in LF, headings that
 * programs read, values that nobody rounded, and no cell that a spreadsheet would work out.
 */

type Cell = string | number | bigint | boolean | null;

/** Headings and lines as CSV. */
export const sheetOf = (heads: readonly string[], lines: readonly (readonly Cell[])[]): string =>
  `\ufeff${[heads, ...lines].map((line) => line.map(cell).join(',')).join('\n')}\n`;

/** What the API answered as CSV, a line for each item: see `flat`. Columns stand as the fields of the items do. */
export function csvOf(items: readonly object[]): string {
  const lines = items.map((item) => new Map(flat(item)));
  const heads: string[] = [];
  for (const line of lines) {
    let at = 0;
    for (const name of line.keys()) {
      const there = heads.indexOf(name);
      if (there < 0) heads.splice(at, 0, name);
      at = Math.max(at, there) + 1;
    }
  }
  // An object that is null somewhere has its fields elsewhere.
  const whole = heads.filter(
    (name) => !heads.some((other) => other.startsWith(`${name}.`)) || lines.some((line) => (line.get(name) ?? '') !== ''),
  );
  return sheetOf(
    whole,
    lines.map((line) => whole.map((name) => line.get(name) ?? null)),
  );
}

/**
 * An item's fields by the API's names. Those of objects stand behind a point (`tokens.input`), amounts by their currency
 * (`cost.USD`, beside `cost.unpricedCalls`); other lists that are not empty are JSON.
 */
function flat(item: object, at = ''): [string, Cell][] {
  return Object.entries(item).flatMap(([name, value]: [string, unknown]): [string, Cell][] => {
    const here = at + name;
    if (Array.isArray(value)) {
      if (value.length === 0) return [[here, null]];
      if (!value.every(isAmount)) return [[here, JSON.stringify(value)]];
      const unpriced = value[0]?.unpricedCalls;
      return [
        ...value.flatMap(({ currency, amount }): [string, Cell][] => (currency === null ? [] : [[`${here}.${currency}`, amount]])),
        ...(unpriced === undefined ? [] : [[`${here}.unpricedCalls`, unpriced] satisfies [string, Cell]]),
      ];
    }
    if (typeof value === 'object' && value !== null) return flat(value, `${here}.`);
    return [[here, (value ?? null) as Cell]];
  });
}

interface Amount {
  currency: string | null;
  amount: string | null;
  unpricedCalls?: number;
}
const isAmount = (value: unknown): value is Amount =>
  typeof value === 'object' && value !== null && 'currency' in value && 'amount' in value;

const cell = (of: Cell): string => {
  const text =
    of === null ? '' : typeof of === 'number' ? digits(of) : typeof of === 'string' && !DECIMAL.test(of) ? harmless(of) : String(of);
  return /[",\r\n]|^\s/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A number with all its digits and no exponent. */
function digits(n: number): string {
  const [text = '', exponent] = String(n).split('e');
  if (exponent === undefined) return text;
  if (Number.isInteger(n)) return BigInt(n).toString();
  return `${n < 0 ? '-' : ''}0.${'0'.repeat(-Number(exponent) - 1)}${text.replace(/\D/g, '')}`;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** An apostrophe stands before what a spreadsheet would work out: names are a caller's, and words an upstream's. */
const harmless = (of: string): string => (/^([\t\r\n]|[\p{Z}\p{C}]*[=+\-@＝＋－＠])/u.test(of) ? `'${of}` : of);
