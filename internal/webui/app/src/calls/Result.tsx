import { useTranslation } from 'react-i18next';
import { Tag } from '../ui/Tag';
import type { Call } from './queries';

/** Icon and word for how a call ended; 499 says who broke off. */
export function Result({ call }: { call: Pick<Call, 'success' | 'statusCode' | 'endedBy'> }) {
  const { t } = useTranslation('calls');
  if (call.success) return <Tag kind="ok">{t('result.success')}</Tag>;
  if (call.statusCode !== 499) return <Tag kind="failed">{t('result.failure')}</Tag>;
  return (
    <span title={t(`endedBy.${call.endedBy}`)}>
      <Tag kind="warn">{t('result.interrupted')}</Tag>
    </span>
  );
}
