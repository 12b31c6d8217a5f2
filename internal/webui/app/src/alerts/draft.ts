import type { Schemas } from '../api/client';
import type { Alert, Site } from './queries';

export type Kind = Alert['kind'];
export type TargetType = Schemas['AlertTarget']['type'];
export type ChannelKind = Schemas['AlertChannel']['kind'];

export const CHANNELS: readonly ChannelKind[] = ['mail', 'webhook', 'feishu', 'dingtalk', 'wecom', 'slack'];
export const WINDOWS = [5, 10, 15, 30, 60] as const;
export const MOST_CHANNELS = 5;

/** What can be watched, and of what. */
export const KINDS: Record<Site, readonly { kind: Kind; targets: readonly TargetType[] }[]> = {
  own: [
    ...(['failureRate', 'p95', 'noCalls', 'tokens', 'cost', 'limit', 'budget', 'keyExpiry', 'upstreamLeftOut'] as const).map((kind) => ({
      kind,
      targets: ['application'] as const,
    })),
    { kind: 'dayClosed', targets: ['account'] },
  ],
  office: [
    { kind: 'failureRate', targets: ['capability', 'upstream'] },
    { kind: 'p95', targets: ['capability', 'upstream'] },
    { kind: 'upstreamLeftOut', targets: ['capability', 'upstream'] },
    { kind: 'statisticsBehind', targets: ['platform'] },
    { kind: 'spoolStuck', targets: ['platform'] },
    { kind: 'dayClosed', targets: ['platform'] },
  ],
};

/** A threshold to begin with. */
export const USUAL: Record<Kind, string> = {
  failureRate: '20',
  p95: '5000',
  noCalls: '30',
  tokens: '1000000',
  cost: '100',
  limit: '80',
  budget: '80',
  keyExpiry: '14',
  statisticsBehind: '60',
  spoolStuck: '5',
  upstreamLeftOut: '5',
  dayClosed: '',
};

/** Whether one thing of its type is watched. */
export const single = (type: TargetType): boolean => type !== 'platform' && type !== 'account';

/** The word of a threshold's unit; a cost's is its currency, and days that are closed have none. */
export const UNITS: Record<Exclude<Kind, 'cost' | 'dayClosed'>, 'percent' | 'ms' | 'minutes' | 'tokens' | 'days' | 'seconds'> = {
  failureRate: 'percent',
  p95: 'ms',
  noCalls: 'minutes',
  tokens: 'tokens',
  limit: 'percent',
  budget: 'percent',
  keyExpiry: 'days',
  statisticsBehind: 'seconds',
  spoolStuck: 'minutes',
  upstreamLeftOut: 'minutes',
};

export const windowed = (kind: Kind): boolean => kind === 'failureRate' || kind === 'p95';

/** The periods that a kind may be of; none: it is of no period. */
export const periodsOf = (kind: Kind): readonly Typed['period'][] =>
  kind === 'budget' ? ['day', 'week', 'month'] : kind === 'tokens' || kind === 'cost' ? ['day', 'month'] : [];

export interface TypedChannel {
  key: number;
  id: string | null;
  kind: ChannelKind;
  /** As it is shown of one that there is. */
  destination: string;
  url: string;
  secret: string;
}

/** The form's fields as they are typed. */
export interface Typed {
  name: string;
  kind: Kind;
  targetType: TargetType;
  targetId: string;
  threshold: string;
  windowMinutes: string;
  minCalls: string;
  period: 'day' | 'week' | 'month';
  currency: string;
  limit: NonNullable<Schemas['AlertDraft']['limit']>;
  channels: TypedChannel[];
}

let last = 0;
export const freshChannel = (): TypedChannel => ({ key: ++last, id: null, kind: 'mail', destination: '', url: '', secret: '' });

export const fresh = (site: Site, targetId = ''): Typed => ({
  name: '',
  kind: 'failureRate',
  targetType: site === 'own' ? 'application' : 'capability',
  targetId,
  threshold: USUAL.failureRate,
  windowMinutes: '5',
  minCalls: '20',
  period: 'day',
  currency: '',
  limit: 'callsPerDay',
  channels: [freshChannel()],
});

export const stored = (alert: Alert): Typed => ({
  name: alert.name,
  kind: alert.kind,
  targetType: alert.target.type,
  targetId: alert.target.id ?? '',
  threshold: String(alert.threshold),
  windowMinutes: String(alert.windowMinutes ?? 5),
  minCalls: String(alert.minCalls ?? 20),
  period: alert.period ?? 'day',
  currency: alert.currency ?? '',
  limit: (alert.limit ?? 'callsPerDay') as Typed['limit'],
  channels: alert.channels.map((channel) => ({
    key: ++last,
    id: channel.id,
    kind: channel.kind,
    destination: channel.destination,
    url: '',
    secret: '',
  })),
});

const channelOf = ({ id, kind, url, secret }: TypedChannel): Schemas['AlertChannelDraft'] => ({
  kind,
  ...(id === null ? {} : { id }),
  ...(kind === 'mail' || url.trim() === '' ? {} : { url: url.trim() }),
  ...(secret === '' || (kind !== 'feishu' && kind !== 'dingtalk') ? {} : { secret }),
});

const watched = (typed: Typed) =>
  windowed(typed.kind) ? { windowMinutes: Number(typed.windowMinutes) as 5, minCalls: Number(typed.minCalls) } : {};

/** What decides when a new alert fires, as the API takes it. */
const ruleOf = (typed: Typed) =>
  ({
    kind: typed.kind,
    targetType: typed.targetType,
    ...watched(typed),
    ...(typed.kind === 'dayClosed' ? {} : { threshold: Number(typed.threshold) }),
    ...(single(typed.targetType) ? { targetId: typed.targetId } : {}),
    ...(periodsOf(typed.kind).length > 0 ? { period: typed.period } : {}),
    ...(typed.kind === 'cost' ? { currency: typed.currency.trim().toUpperCase() } : {}),
    ...(typed.kind === 'limit' ? { limit: typed.limit } : {}),
  }) as Schemas['AlertPreviewDraft']; // what is left out has a default

/** A new alert, as the API takes it. */
export const draftOf = (typed: Typed): Schemas['AlertDraft'] =>
  ({ name: typed.name, channels: typed.channels.map(channelOf), ...ruleOf(typed) }) as Schemas['AlertDraft'];

/** The kinds whose past is known. */
const PAST: readonly Kind[] = ['failureRate', 'p95', 'noCalls', 'tokens', 'cost'];

/** The rule whose past can be asked for, with the threshold of resolution that is kept; null: it cannot be known, or is not all typed yet. */
export function pastOf(typed: Typed, saved: Alert | null): Schemas['AlertPreviewDraft'] | null {
  const rule = ruleOf(typed);
  const { threshold = 0, minCalls = 1, currency = 'USD' } = rule;
  const whole =
    PAST.includes(typed.kind) &&
    typed.targetType === 'application' &&
    typed.targetId !== '' &&
    threshold > 0 &&
    threshold <= (typed.kind === 'failureRate' ? 100 : 1e15) &&
    Number.isInteger(minCalls) &&
    minCalls >= 1 &&
    minCalls <= 1_000_000 &&
    /^[A-Z]{3}$/.test(currency);
  if (!whole) return null;
  return saved?.threshold === threshold ? { ...rule, resolveThreshold: saved.resolveThreshold } : rule;
}

/** What of an alert was changed. */
export function editOf(typed: Typed, before: Typed): Schemas['AlertEdit'] {
  const channels = JSON.stringify(typed.channels) === JSON.stringify(before.channels) ? {} : { channels: typed.channels.map(channelOf) };
  return {
    ...(typed.name === before.name ? {} : { name: typed.name }),
    ...(typed.threshold === before.threshold ? {} : { threshold: Number(typed.threshold) }),
    ...(typed.windowMinutes === before.windowMinutes && typed.minCalls === before.minCalls ? {} : watched(typed)),
    ...channels,
  };
}
