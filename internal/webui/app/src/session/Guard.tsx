import { lazy, Suspense, type ReactNode } from 'react';
import Button from 'antd/es/button';
import { useTranslation } from 'react-i18next';
import { Navigate, useLocation } from 'react-router';
import { FrameBones } from '../ui/Block';
import { renew, useSession } from './session';

const ExpiredDialog = lazy(() => import('./ExpiredDialog'));

/** Shows a page to who is signed in. A session that ends under it leaves the page standing. */
export function Guard({ signIn, children }: { signIn: string; children: ReactNode }) {
  const { t } = useTranslation();
  const { state, who } = useSession();
  const { pathname, search } = useLocation();
  if (state === 'starting') return <FrameBones />;
  if (state === 'offline')
    return (
      <div className="fault" role="alert">
        <p>{t('state.unreachable')}</p>
        <Button onClick={() => void renew().catch(() => undefined)}>{t('action.retry')}</Button>
      </div>
    );
  if (state === 'out' || !who) {
    const next = pathname + search;
    return <Navigate to={next === '/' || next === '/admin' ? signIn : `${signIn}?next=${encodeURIComponent(next)}`} replace />;
  }
  return (
    <>
      {children}
      {state === 'expired' && <Suspense fallback={null}><ExpiredDialog /></Suspense>}
    </>
  );
}
