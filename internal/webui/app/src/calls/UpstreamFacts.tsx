import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';

/** Which named upstream a call went to last, and how many were tried where that is more than one. */
export function UpstreamFacts({ call: { upstreamId, attempts } }: { call: Pick<Schemas['Call'], 'upstreamId' | 'attempts'> }) {
  const { t } = useTranslation('calls');
  return (
    <>
      {upstreamId !== null && (
        <div>
          <dt>{t('fact.upstream')}</dt>
          <dd className="mono">{upstreamId}</dd>
        </div>
      )}
      {attempts > 1 && (
        <div>
          <dt>{t('fact.attempts')}</dt>
          <dd className="number">{attempts}</dd>
        </div>
      )}
    </>
  );
}
