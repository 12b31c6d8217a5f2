import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { applicationQueries } from '../applications/queries';

/** One of the application's keys, where it has several; one that is gone is there while it is chosen. Null is all of them. */
export function KeyChoice({
  applicationId,
  chosen,
  onKey,
}: {
  applicationId: string;
  chosen: string | null;
  onKey: (key: string | null) => void;
}) {
  const { t } = useTranslation('calls');
  const { data } = useQuery(applicationQueries.keys(applicationId));
  const keys = data?.items ?? [];
  if (keys.length < 2 && chosen === null) return null;
  return (
    <select
      className="select"
      aria-label={t('fact.key')}
      value={chosen ?? ''}
      onChange={({ target }) => onKey(target.value === '' ? null : target.value)}
    >
      <option value="">{t('page.allKeys')}</option>
      {chosen !== null && keys.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {keys.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
