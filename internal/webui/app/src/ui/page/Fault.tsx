import { useTranslation } from 'react-i18next';
import { Button } from '../Button';
import { useFaultText, useWait } from './faultText';
import { RequestId } from './RequestId';

/** An error in its place: sentence, code, retry. */
export function Fault({ error, onRetry, height }: { error: unknown; onRetry?: () => void; height?: number }) {
  const { t } = useTranslation();
  const text = useFaultText()(error);
  const wait = useWait(error);
  return (
    <div className="fault" role="alert" style={{ minHeight: height }}>
      <p>{text.title}</p>
      {text.code !== '' && (
        <p className="meta">{[t('state.code', { code: text.code }), ...(text.detail === '' ? [] : [text.detail])].join(' · ')}</p>
      )}
      <RequestId error={error} />
      {onRetry && (
        <Button onClick={onRetry} disabled={wait > 0}>
          {wait > 0 ? t('state.wait', { seconds: String(wait) }) : t('action.retry')}
        </Button>
      )}
    </div>
  );
}
