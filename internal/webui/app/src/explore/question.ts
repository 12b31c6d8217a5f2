import { readers, type Choice } from '../calls/filter';

export const METRICS = [
  'calls',
  'failures',
  'failureRate',
  'cost',
  'tokens',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'p50',
  'p95',
  'p99',
  'firstByteP50',
  'firstByteP95',
  'firstByteP99',
] as const;
export type Metric = (typeof METRICS)[number];

export type Site = 'console' | 'office';

/** Administrators see no keys, tags or users of calls. */
export const GROUPS = {
  console: ['application', 'capability', 'upstreamModel', 'key', 'status', 'reason', 'endedBy', 'user', 'tag'],
  office: ['application', 'owner', 'capability', 'upstreamModel', 'upstream', 'status', 'reason', 'endedBy'],
} as const;
export type Group = (typeof GROUPS)[Site][number];

/** What narrows the calls, each by the name that the URL and the API have for it. */
export const NARROWING = {
  console: ['application', 'model', 'key', 'result', 'status', 'reason', 'tag', 'user'],
  office: ['application', 'owner', 'model', 'result', 'status', 'reason'],
} as const;
type Narrow = (typeof NARROWING)[Site][number];
export type Narrowing = Partial<Record<Narrow, string>>;

/** What the page asks beside its range. */
export interface Question {
  site: Site;
  metric: Metric;
  by: Group;
  /** The name of the tag that is grouped by. */
  tag: string;
  compare: 'previous' | 'month' | null;
  only: Narrowing;
}

const TAG_NAME = /^[a-z0-9_-]{1,32}$/;
export const isTagName = (name: string): boolean => TAG_NAME.test(name);

/** Whether a value is one that the calls' page takes too, or the id of an application or owner. */
const good = (name: Narrow, value: string): boolean =>
  readers[name === 'application' || name === 'owner' ? 'key' : name](value) !== undefined;

/** What a URL asks; what it says wrongly counts for nothing. A month is compared with the one before, unless it says otherwise. */
export function read(search: URLSearchParams, usual: NonNullable<Question['compare']>, site: Site): Question {
  const [metric, by, compare] = [search.get('metric'), search.get('by') ?? '', search.get('compare')];
  const tag = site === 'console' && by.startsWith('tag:') && isTagName(by.slice(4)) ? by.slice(4) : '';
  const only: Narrowing = {};
  for (const name of NARROWING[site]) {
    const value = search.get(name);
    if (value !== null && good(name, value)) only[name] = value;
  }
  return {
    site,
    metric: METRICS.find((one) => one === metric) ?? 'calls',
    by: tag !== '' ? 'tag' : (GROUPS[site].find((one) => one === by && one !== 'tag') ?? 'capability'),
    tag: tag === '' ? 'team' : tag,
    compare: compare === 'off' ? null : compare === 'month' || compare === 'previous' ? compare : usual,
    only,
  };
}

/** What of the API's query a question is. */
export const asked = ({ metric, by, tag, compare, only }: Question) => {
  const { application, status, tag: of, result, ...rest } = only;
  return {
    metric,
    groupBy: by === 'tag' ? `tag:${tag}` : by,
    ...(compare === null ? {} : { compare }),
    ...(application === undefined ? {} : { application: [application] }),
    ...(result === undefined ? {} : { result: result as 'success' | 'failure' }),
    ...(status === undefined ? {} : { status: Number(status) }),
    ...(of === undefined ? {} : { tag: [of] }),
    ...rest,
  };
};

/** What a question is narrowed by, in the order of the page. */
export const narrowings = ({ site, only }: Question): [Narrow, string][] =>
  NARROWING[site].flatMap((name) => (only[name] === undefined ? [] : [[name, only[name]] as [Narrow, string]]));

/** How a metric's values are written, and whether those of groups add up. */
export const kindOf = (metric: Metric): 'count' | 'rate' | 'duration' | 'money' =>
  metric === 'cost' ? 'money' : metric === 'failureRate' ? 'rate' : /^p\d|P\d/.test(metric) ? 'duration' : 'count';
export const adds = (metric: Metric): boolean => kindOf(metric) === 'count' || metric === 'cost';

/** Whether every call is read for an answer by day or week, or of everyone's as much. */
export function readsMuch({ site, metric, by, only }: Question): boolean {
  const narrowed = (only.result ?? only.status ?? only.reason ?? only.key) !== undefined;
  const summed = metric.startsWith('p') && (by === 'capability' || (by === 'application' && site === 'console')) && !narrowed;
  const ofEach = by === 'tag' || by === 'user' || by === 'upstream' || only.tag !== undefined || only.user !== undefined;
  return ofEach || (kindOf(metric) === 'duration' && !summed);
}

/** What calls are narrowed by that are of a group; null where the API cannot: calls without a key or user, or of a model that answered. */
export function narrowedTo({ by, tag }: Question, group: string): Narrowing | null {
  switch (by) {
    case 'application':
    case 'owner':
      return { [by]: group };
    case 'capability':
      return { model: group };
    case 'reason':
      return group === '' ? { result: 'success' } : { reason: group };
    case 'tag':
      return group === '' ? null : { tag: `${tag}:${group}` };
    case 'key':
    case 'status':
    case 'user':
      return group === '' ? null : { [by]: group };
    default:
      return null;
  }
}

/** The next thing that one asks about a group. */
export const next = (by: Group): Group => (by === 'capability' ? 'application' : 'capability');

/** Where the office tells more of a group: `range` is the query that names the range. */
export function figuresOf({ by }: Question, group: string, range: string): string | null {
  if (group === '') return null;
  switch (by) {
    case 'application':
      return `/admin/usage?${range}&by=applications&q=${group}`;
    case 'owner':
      return `/admin/usage?${range}&by=applications&owner=${group}`;
    case 'capability':
      return `/admin/capabilities/${encodeURIComponent(group)}/figures?${range}`;
    case 'upstream':
      return `/admin/usage?${range}&by=upstreams`;
    default:
      return null;
  }
}

/** What of the calls' page a narrowing is. */
export function choiceOf({ model, key, result, status, reason, tag, user }: Narrowing): Partial<Choice> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(key === undefined ? {} : { key }),
    ...(result === undefined ? {} : { result: result as 'success' | 'failure' }),
    ...(status === undefined ? {} : { status: Number(status) }),
    ...(reason === undefined ? {} : { reason }),
    ...(tag === undefined ? {} : { tag }),
    ...(user === undefined ? {} : { user }),
  };
}
