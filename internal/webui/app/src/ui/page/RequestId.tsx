import { useTranslation } from 'react-i18next';
import { Copy } from '../Copy';
import { requestIdOf } from './faultText';

/** The id of a request that failed by the server's own fault, to be copied into a report. */
export function RequestId({ error }: { error: unknown }) {
  const id = requestIdOf(error);
  return id === null ? null : <RequestIdLine id={id} />;
}

export function RequestIdLine({ id }: { id: string }) {
  const { t } = useTranslation();
  return (
    <span className="request-id meta">
      {t('state.requestId', { id })} <Copy bare text={id} label={t('crash.copyId')} />
    </span>
  );
}
