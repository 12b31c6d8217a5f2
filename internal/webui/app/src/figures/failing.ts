import type { CapabilityLine, FailureNow } from './queries';

/** The share of a capability's calls of the last hour from which on it is said to fail. */
export const FAILING = 0.01;

type Cause = Pick<FailureNow, 'type' | 'code' | 'upstreamStatus'>;

/** Answers of an upstream below 500 that are about our key, our quota or its haste, not about what a caller sent. */
const OURS = [401, 402, 403, 407, 408, 425, 429];
const ofCallers = ['caller_timeout', 'client_closed'];

/** Who can do something about a failure: an administrator, or only the caller, whom the gateway refused or who left. */
export function ours({ type, code, upstreamStatus }: Cause): boolean {
  if (type === 'permission_denied' || type === 'invalid_request' || type === 'limited') return false;
  if (type === 'upstream_http_error')
    return upstreamStatus === null || upstreamStatus >= 500 || upstreamStatus < 400 || OURS.includes(upstreamStatus);
  return code === null || !ofCallers.includes(code);
}

/** A capability with failures in the last hour. */
export interface Failing {
  model: string;
  /** Of its catalog; empty where it is not in it. */
  name: string;
  /** Its last two hours; null until they are read. */
  line: CapabilityLine | null;
  /** The most failures first. */
  reasons: FailureNow[];
  /** Failures of these reasons, and in the hour before. */
  failures: number;
  before: number;
}

/** A failure that was not seen for longer than this, in ms, has ended. */
const ENDED = 10 * 60_000;

/**
 * What fails now, most failures first: capabilities of whose calls FAILING or more failed for a reason of ours that was
 * seen within ENDED before `until`, and apart from them all other failures: of callers, few or over. A capability can be
 * in both.
 */
export function failingNow(
  items: readonly FailureNow[],
  lines: readonly CapabilityLine[],
  until: string,
): { failing: Failing[]; others: FailureNow[] } {
  const fails = (one: FailureNow): boolean => ours(one) && Date.parse(until) - Date.parse(one.lastSeen) <= ENDED;
  const of = new Map<string, FailureNow[]>();
  for (const item of items) of.set(item.model, [...(of.get(item.model) ?? []), item]);
  const failing: Failing[] = [];
  const others: FailureNow[] = [];
  for (const [model, all] of of) {
    const line = lines.find((one) => one.model === model) ?? null;
    const reasons = all.filter(fails);
    const failures = reasons.reduce((sum, one) => sum + one.failures, 0);
    if (failures > 0 && failures >= (line?.lastHour.calls ?? 0) * FAILING) {
      failing.push({
        model,
        name: all[0]!.name,
        line,
        reasons,
        failures,
        before: reasons.reduce((sum, one) => sum + one.failuresBefore, 0),
      });
      others.push(...all.filter((one) => !fails(one)));
    } else others.push(...all);
  }
  failing.sort((a, b) => b.failures - a.failures);
  return { failing, others: others.sort((a, b) => b.failures - a.failures) };
}

const HOUR = 3_600_000;
/** A failure whose first call is so near the beginning of the two hours that are told, in ms, was there before. */
const NEAR = 5 * 60_000;

/** How long something has failed, in whole minutes; null: for the whole two hours that are told, or longer. */
export function lasting({ firstSeen, failuresBefore }: Pick<FailureNow, 'firstSeen' | 'failuresBefore'>, until: string): number | null {
  const ms = Date.parse(until) - Date.parse(firstSeen);
  return failuresBefore > 0 && ms > 2 * HOUR - NEAR ? null : Math.max(0, Math.floor(ms / 60_000));
}
