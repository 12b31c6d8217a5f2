import { addDays, isDay } from '../../range/days';

/** Which entries of the audit trail are shown, as the URL has it; empty is any. */
export interface AuditFilter {
  actor: string;
  /** The beginning of an action: `application.` is all that is done to applications. */
  action: string;
  /** The beginning of an id or a name. */
  target: string;
  /** Beijing days, both included. */
  start: string;
  end: string;
}

/** What actions are done to, as actions begin. */
export const NOUNS = [
  'application',
  'access_key',
  'capability',
  'group',
  'upstream',
  'price',
  'ceiling',
  'budget',
  'alert',
  'user',
  'token',
  'administrator',
  'spool',
] as const;

const MOST_TEXT = 254; // the API takes no more

/** Reads the URL; a day that is none is any. */
export function auditFilter(search: URLSearchParams): AuditFilter {
  const text = (name: string) => (search.get(name) ?? '').slice(0, MOST_TEXT);
  const day = (name: string) => (isDay(search.get(name) ?? '') ? search.get(name)! : '');
  const [start, end] = [day('start'), day('end')];
  return { actor: text('actor'), action: text('action'), target: text('target'), start, end: end !== '' && end < start ? '' : end };
}

export const anyEntry = (filter: AuditFilter): boolean => Object.values(filter).every((value) => value === '');

/** The filter as the API takes it: days become instants, the last one's end excluded. */
export function auditQuery({ start, end, ...texts }: AuditFilter): Record<string, string> {
  const times = { from: start === '' ? '' : `${start}T00:00:00+08:00`, to: end === '' ? '' : `${addDays(end, 1)}T00:00:00+08:00` };
  return Object.fromEntries(Object.entries({ ...texts, ...times }).filter(([, value]) => value !== ''));
}

/** The page of the back office that shows what an entry is about; null where none does. */
export function targetPath({
  action,
  targetType,
  targetId,
  targetName,
}: {
  action: string;
  targetType: string;
  targetId: string;
  targetName: string;
}): string | null {
  if (action.endsWith('.delete') || targetId === '') return null;
  const id = encodeURIComponent(targetId);
  switch (targetType) {
    case 'application':
      return `/admin/applications?q=${id}`;
    case 'capability':
      return `/admin/capabilities/${id}`;
    case 'group':
      return `/admin/capabilities?groupId=${id}`;
    case 'upstream':
      return '/admin/upstreams';
    case 'account':
    case 'user':
      return `/admin/users?q=${encodeURIComponent(targetName)}`;
    case 'price':
      return '/admin/prices';
    case 'ceiling':
      return '/admin/limits';
    case 'spool':
      return '/admin/spools';
    default:
      return null;
  }
}
