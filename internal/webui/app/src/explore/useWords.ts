import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { useReasonWords } from '../calls/useReasonText';
import type { Group } from './question';

/** What a group is called that has no name of its own. */
export function useWords(): (by: Group | 'model', group: string) => string {
  const { t } = useTranslation(['explore', 'calls', 'common']);
  const reasons = useReasonWords();
  return useCallback(
    (by, group) => {
      if (by === 'reason') return group === '' ? t('none.reason') : reasons(group);
      if (by === 'endedBy') return t(`calls:endedBy.${group}` as 'calls:endedBy.complete');
      if (group !== '') return group;
      return by === 'capability' || by === 'model' ? t('common:metrics.unspecified') : t(`none.${by}` as 'none.user');
    },
    [t, reasons],
  );
}
