import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { configQueries } from './queries';

/** The company's sign-in, where this installation has one. In a tab of its own it leaves the page below as it stands. */
export function Company({ next, ownTab = false }: { next: string; ownTab?: boolean }) {
  const { t } = useTranslation(['session', 'common']);
  const { data } = useQuery(configQueries.get());
  if (!data?.oidc.enabled) return null;
  return (
    <>
      <div className="sign-in-or">{t('or')}</div>
      <a
        className="quiet"
        data-edge
        href={`/api/auth/oidc/login?next=${encodeURIComponent(next)}`}
        target={ownTab ? '_blank' : undefined}
        rel={ownTab ? 'noreferrer' : undefined}
      >
        {t('company', { name: data.oidc.name })}
      </a>
      {ownTab && <p className="meta">{t('companyTab')}</p>}
    </>
  );
}
