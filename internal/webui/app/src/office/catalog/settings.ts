import type { Capability } from '../queries';
import type { Schemas } from '../../api/client';

/** The editor's fields as they are typed. */
export interface Settings {
  id: string;
  name: string;
  groupId: string;
  description: string;
  sortOrder: string;
  status: Schemas['CapabilityStatus'];
  upstreamBaseUrl: string;
  upstreamAuth: Schemas['UpstreamAuth'];
  upstreamKey: string;
  upstreamModel: string;
  defaultPath: string;
  allowedMethods: string;
  allowedPaths: string;
  /** One a line, see `members`. */
  upstreams: string;
}

/** A named upstream of a capability as it is typed. */
export interface Member {
  upstreamId: string;
  weight: string;
  priority: string;
  status: Schemas['CapabilityStatus'];
}

/** The named upstreams, of lines such as "openai-eu 3 0 enabled". */
export const members = (lines: string): Member[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [upstreamId = '', weight = '', priority = '', status = ''] = line.split(' ');
      return { upstreamId, weight, priority, status: status === 'disabled' ? 'disabled' : 'enabled' };
    });

export const linesOf = (
  all: readonly { upstreamId: string; weight: number | string; priority: number | string; status: string }[],
): string => all.map(({ upstreamId, weight, priority, status }) => `${upstreamId} ${weight} ${priority} ${status}`).join('\n');

/** The lists of what may be called, as they are typed: separated by spaces, commas or lines. */
const lists: readonly string[] = ['allowedMethods', 'allowedPaths'] satisfies (keyof Settings)[];
const listed = (typed: string): string[] => typed.split(/[\s,，、]+/u).filter((one) => one !== '');

const sent = (field: string, value: string) => {
  if (field === 'sortOrder') return Number(value);
  if (field === 'upstreams')
    return members(value).map(({ weight, priority, ...named }) => ({ ...named, weight: Number(weight), priority: Number(priority) }));
  if (field === 'allowedMethods') return listed(value.toUpperCase());
  return lists.includes(field) ? listed(value) : value;
};

export const fresh = (groupId: string): Settings => ({
  id: '',
  name: '',
  groupId,
  description: '',
  sortOrder: '0',
  status: 'enabled',
  upstreamBaseUrl: '',
  upstreamAuth: 'bearer',
  upstreamKey: '',
  upstreamModel: '',
  defaultPath: '/v1/chat/completions',
  allowedMethods: '',
  allowedPaths: '',
  upstreams: '',
});

/** The stored settings; the key is never among them. */
export const stored = (capability: Capability): Settings => ({
  id: capability.id,
  name: capability.name,
  groupId: capability.groupId,
  description: capability.description,
  sortOrder: String(capability.sortOrder),
  status: capability.status,
  upstreamBaseUrl: capability.upstreamBaseUrl,
  upstreamAuth: capability.upstreamAuth,
  upstreamKey: '',
  upstreamModel: capability.upstreamModel,
  defaultPath: capability.defaultPath,
  allowedMethods: capability.allowedMethods.join(' '),
  allowedPaths: capability.allowedPaths.join('\n'),
  upstreams: linesOf(capability.upstreams),
});

/** What differs, as the API takes it; an empty key is no change. */
export function changes(before: Settings, now: Settings): Schemas['CapabilityEdit'] {
  const changed = Object.entries(now).filter(([field, value]) => before[field as keyof Settings] !== value);
  return Object.fromEntries(changed.map(([field, value]) => [field, sent(field, value)])) as Schemas['CapabilityEdit'];
}

/** Everything that is typed, for a new capability. */
export const draft = (now: Settings): Schemas['CapabilityEdit'] =>
  Object.fromEntries(Object.entries(now).map(([field, value]) => [field, sent(field, value)])) as Schemas['CapabilityEdit'];

/** Where a call of the default path goes, as the gateway joins it; null while the base is no URL. */
export function finalUrl(base: string, path: string): string | null {
  const typed = base.trim();
  if (!/^https?:\/\/[^/?#\s\\]+[^?#\s\\]*$/i.test(typed)) return null;
  try {
    const url = new URL(typed);
    if (url.username || url.password) return null;
    const joined = url.pathname.replace(/\/+$/, '') + path.trim();
    return `${url.protocol}//${url.host}${joined === '' ? '/' : joined}`;
  } catch {
    return null;
  }
}

/** The base ends with what the path begins with, such as /v1: mostly a slip. */
export function repeated(base: string, path: string): string | null {
  const first = /^\/[^/]+/.exec(path.trim())?.[0];
  return first && base.trim().replace(/\/+$/, '').endsWith(first) ? first : null;
}

/** Whether two addresses have the same scheme, host and port, which is what a stored key was saved for. */
export function sameOrigin(a: string, b: string): boolean {
  try {
    return new URL(a.trim()).origin === new URL(b.trim()).origin;
  } catch {
    return false;
  }
}

export const hostOf = (url: string): string => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};
