import type { CSSProperties } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { useReasonText } from './useReasonText';

/**
 * Where the time of a call went: one bar for each attempt at an upstream, from when it began to when it was given up or ended, in
 * the last of which the wait for the first byte is set off. Nothing for a call that no upstream was asked for.
 */
export function Timeline({
  call: { attempts, attemptList, durationMs, firstByteMs, upstreamId },
  at,
}: {
  call: Pick<Schemas['Call'], 'attempts' | 'attemptList' | 'durationMs' | 'firstByteMs' | 'upstreamId'>;
  /** Which upstreams the attempts were made at, where that may be told. */
  at?: readonly Schemas['AttemptUpstream'][];
}) {
  const { t } = useTranslation('calls');
  const format = useFormat();
  const words = useReasonText();
  if (durationMs === 0 || (attempts === 0 && firstByteMs === null)) return null;
  const list = attemptList.length > 0 ? attemptList : [{ status: null, reason: null, durationMs }];
  const begins = list.map((_, n) => list.slice(0, n).reduce((sum, one) => sum + one.durationMs, 0));
  const share = (ms: number): string => `${(Math.min(ms, durationMs) / durationMs) * 100}%`;
  return (
    <div className="across">
      <dt>{t('fact.timeline')}</dt>
      <dd>
        <ol className="call-timeline">
          {list.map((one, n) => {
            const last = n === list.length - 1;
            const [begin, end] = [begins[n]!, last ? durationMs : begins[n]! + one.durationMs];
            const told = [
              list.length > 1 && (at?.[n] ? (at[n].name ?? at[n].id) : last && upstreamId !== null && upstreamId),
              list.length > 1 && (one.reason === null ? one.status : words({ code: one.reason, upstreamStatus: one.status })),
              last && firstByteMs !== null && t('timeline.firstByte', { at: format.duration(firstByteMs) }),
              t(last ? 'timeline.end' : 'timeline.givenUp', { at: format.duration(end) }),
            ];
            const wait = last && firstByteMs !== null ? Math.max(firstByteMs, begin) : end;
            return (
              <li key={n}>
                <span className="number">
                  {list.length > 1 && `${n + 1}. `}
                  {told.filter((text) => text !== false && text !== null).join(' · ')}
                </span>
                <span className="call-time" aria-hidden="true">
                  <i
                    style={{ '--from': share(begin), '--to': share(wait) } as CSSProperties}
                    data-failed={one.reason !== null || undefined}
                  />
                  {wait < end && <i style={{ '--from': share(wait), '--to': share(end) } as CSSProperties} data-answer />}
                </span>
              </li>
            );
          })}
        </ol>
      </dd>
    </div>
  );
}
