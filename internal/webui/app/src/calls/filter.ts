import { addDays } from '../range/days';

/** Which calls are asked for. */
export interface Filter {
  /** Null: of every own application. */
  application: string | null;
  /** Beijing days, both included. */
  start: string;
  end: string;
  /** Null: all models; empty: calls without a capability. */
  model: string | null;
  result: 'success' | 'failure' | null;
  /** A failure's reason as `type` or `type:code`; empty: none was recorded. */
  reason: string | null;
  /** HTTP status as it was recorded. */
  status: number | null;
  /** What the upstream answered to a failed call; 0: it did not answer. */
  upstreamStatus: number | null;
  /** A part of the upstream's message. */
  text: string;
  /** What the upstream's message says, but for its numbers and ids. */
  message: string | null;
  /** The id of the key that they were made with. */
  key: string | null;
  /** A tag that their caller gave them, as name:value. */
  tag: string | null;
  /** Whom they were made for. */
  user: string | null;
  /** Instants, RFC 3339: calls that started at `from` or later, and before `to`. */
  from: string | null;
  to: string | null;
}

/** All calls of these days. */
export const everyCall = (start: string, end: string = start): Filter => ({
  start,
  end,
  application: null,
  model: null,
  result: null,
  reason: null,
  status: null,
  upstreamStatus: null,
  text: '',
  message: null,
  key: null,
  tag: null,
  user: null,
  from: null,
  to: null,
});

/** What of a filter is a choice, as the URL says it; times are of the day. */
export interface Choice extends Pick<
  Filter,
  'application' | 'model' | 'result' | 'reason' | 'status' | 'upstreamStatus' | 'text' | 'message' | 'key' | 'tag' | 'user'
> {
  /** 14:00 or 14:00:30, on the first day of the range; null: from its beginning. */
  from: string | null;
  /** On its last day, 24:00 at most; null: to its end. */
  to: string | null;
}

export const nothingChosen: Choice = {
  application: null,
  model: null,
  result: null,
  reason: null,
  status: null,
  upstreamStatus: null,
  text: '',
  message: null,
  key: null,
  tag: null,
  user: null,
  from: null,
  to: null,
};

/** Characters of a searched text. */
export const MOST_TEXT = 200;

/** Characters of a tag's value, and of a user's id. */
const MOST_TAG_VALUE = 64;
const MOST_USER = 128;

/** Whether a text is one that a caller can have given: of some characters that are seen, with spaces only inside. */
const seen = (text: string, most: number): boolean =>
  text !== '' && text.trim() === text && [...text].length <= most && !/[^ \P{Z}]|\p{C}/u.test(text);

/** A time of day as HH:MM or HH:MM:SS, from `9`, `9:30`, `0930`, `09:30:15`, `24:00`; null where it is none. */
export function timeOf(written: string): string | null {
  const found = /^(\d{1,2})(?:[:：.]?([0-5]\d)(?:[:：.]?([0-5]\d))?)?$/.exec(written.trim());
  if (!found) return null;
  const [hour, minute = '00', second] = [found[1]!.padStart(2, '0'), found[2], found[3]];
  const time = second === undefined || second === '00' ? `${hour}:${minute}` : `${hour}:${minute}:${second}`;
  return time <= '23:59:59' || time === '24:00' ? time : null;
}

/** The instant of a time of a Beijing day. */
const at = (day: string, time: string): string => {
  if (time === '24:00') return `${addDays(day, 1)}T00:00:00+08:00`;
  return `${day}T${time.length === 5 ? `${time}:00` : time}+08:00`;
};

interface Days {
  start: string;
  end: string;
}

/** Whether the times of a choice leave anything between them. */
export const timely = ({ start, end }: Days, { from, to }: Pick<Choice, 'from' | 'to'>): boolean =>
  from === null ? to !== '00:00' || start < end : to === null ? from !== '24:00' || start < end : start < end || from < to;

/** The filter that a choice means in a range; times that leave nothing between them count for nothing. */
export function filterOf({ start, end }: Days, choice: Choice): Filter {
  const { from, to, ...rest } = choice;
  const good = timely({ start, end }, choice);
  return { start, end, ...rest, from: from === null || !good ? null : at(start, from), to: to === null || !good ? null : at(end, to) };
}

const names = [
  'application',
  'model',
  'result',
  'reason',
  'status',
  'upstreamStatus',
  'text',
  'message',
  'key',
  'tag',
  'user',
  'from',
  'to',
] as const;

const id = (value: string) => (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value) ? value : undefined);

export const readers: { [K in (typeof names)[number]]: (value: string) => Choice[K] | undefined } = {
  application: id,
  model: (value) => (/^([A-Za-z0-9][A-Za-z0-9._:-]{0,63})?$/.test(value) ? value : undefined),
  result: (value) => (value === 'success' || value === 'failure' ? value : undefined),
  reason: (value) => (/^([a-z_]{1,64}(:[a-z_]{1,64})?)?$/.test(value) ? value : undefined),
  status: (value) => (/^[1-5]\d\d$/.test(value) ? Number(value) : undefined),
  upstreamStatus: (value) => (/^([1-5]\d\d|0)$/.test(value) ? Number(value) : undefined),
  text: (value) => ([...value].length <= MOST_TEXT ? value : undefined),
  message: (value) => (value !== '' && [...value].length <= MOST_TEXT ? value : undefined),
  key: id,
  tag: (value) => (/^[a-z0-9_-]{1,32}:/.test(value) && seen(value.slice(value.indexOf(':') + 1), MOST_TAG_VALUE) ? value : undefined),
  user: (value) => (seen(value, MOST_USER) ? value : undefined),
  from: (value) => timeOf(value) ?? undefined,
  to: (value) => timeOf(value) ?? undefined,
};

/** What a URL chooses; `bad` names the parameters that say nothing the product takes, which are left out. */
export function read(search: URLSearchParams): { choice: Choice; bad: string[] } {
  const choice: Choice = { ...nothingChosen };
  const bad: string[] = [];
  for (const name of names) {
    const given = search.get(name);
    if (given === null) continue;
    const value = readers[name](given);
    if (value === undefined) bad.push(name);
    else Object.assign(choice, { [name]: value });
  }
  return { choice: agreeing(choice, {}), bad };
}

/** A choice with a change in it. A success has no reason and no message: of the two, what was chosen last stands. */
export function agreeing(choice: Choice, change: Partial<Choice>): Choice {
  const next = { ...choice, ...change };
  const failuresOnly = next.reason !== null || next.upstreamStatus !== null || next.text !== '' || next.message !== null;
  if (next.result !== 'success' || !failuresOnly) return next;
  return change.result === 'success' ? { ...next, reason: null, upstreamStatus: null, text: '', message: null } : { ...next, result: null };
}

/** The same query with this choice in it, at page 1. */
export function chosen(search: URLSearchParams, choice: Choice): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const name of [...names, 'page', 'until']) next.delete(name);
  for (const name of names) {
    const value = choice[name];
    if (value !== null && (value !== '' || name !== 'text')) next.set(name, String(value));
  }
  return next;
}

/** The page of the calls of one application, or (null) of all own ones. */
export const placeOf = (applicationId: string | null): string =>
  applicationId === null ? '/calls' : `/applications/${applicationId}/calls`;

/** Where the calls of one application, or (null) of all own ones, are seen: `range` is the query of the page's URL that names the range, or '' for the last 7 days. */
export function callsPath(applicationId: string | null, range: string, choice: Partial<Choice> = {}): string {
  const query = chosen(new URLSearchParams(range), { ...nothingChosen, ...choice }).toString();
  return `${placeOf(applicationId)}${query === '' ? '' : `?${query}`}`;
}

/** The query that names one day. */
export const ofDay = (day: string): string => `?start=${day}&end=${day}`;
