/** What somebody who types or pastes into the search may mean. */
export interface Asked {
  /** Ids that a call, or an application, may have. */
  ids: string[];
  /** Traces, as 32 lower-case hexadecimal digits. */
  traces: string[];
  /** Words to look for in names. */
  words: string;
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const hex = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/gi;
const MOST_WORDS = 64; // the API takes no more

const unique = (found: readonly string[]): string[] => [...new Set(found.map((one) => one.toLowerCase()))];

/** Reads it with whatever stands around an id: `X-Call-Id: 0198…`, a `traceparent`, a line of a log. */
export function read(text: string): Asked {
  const ids = unique(text.match(uuid) ?? []);
  const bare = unique(text.match(hex) ?? []);
  // A call id without its dashes; the seventh version says so at its thirteenth digit.
  const undashed = bare.filter((one) => one[12] === '7').map((one) => one.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
  return { ids: [...ids, ...undashed], traces: bare.filter((one) => !/^0+$/.test(one)), words: text.trim().slice(0, MOST_WORDS) };
}
