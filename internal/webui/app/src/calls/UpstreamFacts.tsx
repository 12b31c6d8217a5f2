import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { useReasonText } from './useReasonText';

/** Which named upstream a call went to last, and where it was sent to more than one, what came of each attempt. */
export function UpstreamFacts({
  call: { upstreamId, attempts, attemptList },
  at,
}: {
  call: Pick<Schemas['Call'], 'upstreamId' | 'attempts' | 'attemptList'>;
  at?: readonly Schemas['AttemptUpstream'][];
}) {
  const { t } = useTranslation('calls');
  const format = useFormat();
  const words = useReasonText();
  return (
    <>
      {upstreamId !== null && (
        <div>
          <dt>{t('fact.upstream')}</dt>
          <dd className="mono">{upstreamId}</dd>
        </div>
      )}
      {attempts > 1 && (
        <div className={attemptList.length > 0 ? 'across' : undefined}>
          <dt>{t('fact.attempts')}</dt>
          <dd className="number">
            {attemptList.length === 0
              ? attempts
              : attemptList.map(({ status, reason, durationMs }, n) => (
                  <div key={n}>
                    {n + 1}.{' '}
                    {[
                      at?.[n] && (at[n].name ?? at[n].id),
                      reason === null ? status : words({ code: reason, upstreamStatus: status }),
                      format.duration(durationMs),
                    ]
                      .filter((text) => text !== undefined && text !== null)
                      .join(' · ')}
                  </div>
                ))}
          </dd>
        </div>
      )}
    </>
  );
}
