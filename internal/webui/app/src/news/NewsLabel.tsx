import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { configQueries } from '../session/queries';

/** What is new, with the version beside it; it asks for that when the menu opens. */
export function NewsLabel({ unseen }: { unseen: boolean }) {
  const { t } = useTranslation();
  const { data: config } = useQuery(configQueries.get());
  return (
    <>
      {t('news.title')}
      {unseen && <span className="dot" role="img" aria-label={t('news.unseen')} />}
      <span className="meta cut news-version">{config?.version}</span>
    </>
  );
}
