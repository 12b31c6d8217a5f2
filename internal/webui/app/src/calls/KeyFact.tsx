import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { applicationQueries } from '../applications/queries';
import type { Call } from './queries';

/** Which of the application's keys a call was made with, as an entry of a list of facts; one that is gone by its id. */
export function KeyFact({ applicationId, call }: { applicationId: string; call: Pick<Call, 'keyId'> }) {
  const { t } = useTranslation('calls');
  const { data } = useQuery({ ...applicationQueries.keys(applicationId), enabled: call.keyId !== null });
  if (call.keyId === null) return null;
  const key = data?.items.find(({ id }) => id === call.keyId);
  return (
    <div className={key ? undefined : 'across'}>
      <dt>{t('fact.key')}</dt>
      <dd title={call.keyId}>
        {key ? (
          <>
            {key.name} <code>{key.maskedAccessKey}</code>
          </>
        ) : (
          <>
            <span className="mono">{call.keyId}</span> {data && <span className="meta">{t('fact.keyGone')}</span>}
          </>
        )}
      </dd>
    </div>
  );
}
