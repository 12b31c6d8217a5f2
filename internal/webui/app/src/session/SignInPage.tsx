import './session.css';
import { useTranslation } from 'react-i18next';
import { Navigate, useSearchParams } from 'react-router';
import { switchLanguage } from '../locale/locale';
import { Icon } from '../ui/Icon';
import { Notices } from '../ui/page/Shell';
import { useTitle } from '../ui/page/useTitle';
import { Company } from './Company';
import { localPath } from './next';
import { useSession } from './useSession';
import { SignInForm } from './SignInForm';

/** The card both sites sign in with; the back office has its colour and no company login. */
export function SignIn({ office = false }: { office?: boolean }) {
  const { t } = useTranslation(['session', 'common']);
  const [search] = useSearchParams();
  const { state, why } = useSession();
  const asked = search.get('next');
  const next = localPath(asked, office ? '/admin' : '/');
  useTitle(t('title'));
  if (state === 'in') return <Navigate to={next} replace />;
  return (
    <div className={office ? 'office' : undefined}>
      <main className="sign-in">
        <div className="sign-in-card">
          <div className="brand">
            <img src="/favicon.svg" width="24" height="24" alt="" />
            {t('common:product')}
          </div>
          {office ? <p className="meta office-band">{t('office')}</p> : <p className="second sign-in-about">{t('about')}</p>}
          <h1>{t('title')}</h1>
          {search.has('error') && (
            <p className="bar" data-kind="failed" role="alert">
              {t('companyFailed')}
            </p>
          )}
          {why && why !== 'left' ? (
            <p className="bar" data-kind="warn" role="status">
              {t(`why.${why}`)}
            </p>
          ) : (
            asked !== null && <p className="second">{t('why.next')}</p>
          )}
          <SignInForm />
          {!office && <Company next={next} />}
        </div>
        <div className="sign-in-foot">
          <button type="button" className="quiet" onClick={switchLanguage}>
            <Icon name="language" />
            {t('common:language.other')}
          </button>
        </div>
      </main>
      <Notices />
    </div>
  );
}

export function Component() {
  return <SignIn />;
}
