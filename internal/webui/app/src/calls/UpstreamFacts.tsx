import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { Timeline } from './Timeline';

type Sent = Pick<Schemas['Call'], 'upstreamId' | 'attempts' | 'attemptList' | 'durationMs' | 'firstByteMs'>;

/** Which named upstream a call went to last, to how many where they are not kept, and where its time went. */
export function UpstreamFacts({ call, at }: { call: Sent; at?: readonly Schemas['AttemptUpstream'][] }) {
  const { t } = useTranslation('calls');
  const { upstreamId, attempts, attemptList } = call;
  return (
    <>
      {upstreamId !== null && (
        <div>
          <dt>{t('fact.upstream')}</dt>
          <dd className="mono">{upstreamId}</dd>
        </div>
      )}
      {attempts > 1 && attemptList.length === 0 && (
        <div>
          <dt>{t('fact.attempts')}</dt>
          <dd className="number">{attempts}</dd>
        </div>
      )}
      <Timeline call={call} at={at} />
    </>
  );
}
