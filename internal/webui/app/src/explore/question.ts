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

export const GROUPS = ['application', 'capability', 'upstreamModel', 'key', 'status', 'reason', 'endedBy', 'user', 'tag'] as const;
export type Group = (typeof GROUPS)[number];

/** What narrows the calls, each by the name that the URL and the API have for it. */
export const NARROWING = ['application', 'model', 'key', 'result', 'status', 'reason', 'tag', 'user'] as const;
export type Narrowing = Partial<Record<(typeof NARROWING)[number], string>>;

/** What the page asks beside its range. */
export interface Question {
  metric: Metric;
  by: Group;
  /** The name of the tag that is grouped by. */
  tag: string;
  compare: 'previous' | 'month' | null;
  only: Narrowing;
}

const TAG_NAME = /^[a-z0-9_-]{1,32}$/;
export const isTagName = (name: string): boolean => TAG_NAME.test(name);

/** Whether a value is one that the calls' page takes too, or the id of an application. */
const good = (name: (typeof NARROWING)[number], value: string): boolean =>
  readers[name === 'application' ? 'key' : name](value) !== undefined;

/** What a URL asks; what it says wrongly counts for nothing. A month is compared with the one before, unless it says otherwise. */
export function read(search: URLSearchParams, usual: NonNullable<Question['compare']>): Question {
  const [metric, by, compare] = [search.get('metric'), search.get('by') ?? '', search.get('compare')];
  const tag = by.startsWith('tag:') && isTagName(by.slice(4)) ? by.slice(4) : '';
  const only: Narrowing = {};
  for (const name of NARROWING) {
    const value = search.get(name);
    if (value !== null && good(name, value)) only[name] = value;
  }
  return {
    metric: METRICS.find((one) => one === metric) ?? 'calls',
    by: tag !== '' ? 'tag' : (GROUPS.find((one) => one === by && one !== 'tag') ?? 'capability'),
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

/** How a metric's values are written, and whether those of groups add up. */
export const kindOf = (metric: Metric): 'count' | 'rate' | 'duration' | 'money' =>
  metric === 'cost' ? 'money' : metric === 'failureRate' ? 'rate' : /^p\d|P\d/.test(metric) ? 'duration' : 'count';
export const adds = (metric: Metric): boolean => kindOf(metric) === 'count' || metric === 'cost';

/** Whether every call is read for an answer by day or week. */
export const readsCalls = ({ metric, by, only }: Question): boolean =>
  kindOf(metric) === 'duration' || by === 'tag' || by === 'user' || only.tag !== undefined || only.user !== undefined;

/** What calls are narrowed by that are of a group; null where the API cannot: calls without a key or user, or of a model that answered. */
export function narrowedTo({ by, tag }: Question, group: string): Narrowing | null {
  switch (by) {
    case 'application':
      return { application: group };
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
