import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, useLocation } from 'react-router';
import { FrameBones } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { renew } from './session';
import { useSession } from './useSession';

const load = () => import('./ExpiredDialog');
const ExpiredDialog = lazy(load);

/** Shows a page to who is signed in. A session that ends under it leaves the page standing. */
export function Guard({ signIn, children }: { signIn: string; children: ReactNode }) {
  const { t } = useTranslation();
  const { state, who, why } = useSession();
  const { pathname, search } = useLocation();
  useAtHand(state === 'in');
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
    const left = why === 'left' || why === 'otherTab'; // where the next person goes is not theirs to say
    return <Navigate to={left || next === '/' || next === '/admin' ? signIn : `${signIn}?next=${encodeURIComponent(next)}`} replace />;
  }
  return (
    <>
      {children}
      {state === 'expired' && (
        <Suspense fallback={null}>
          <ExpiredDialog />
        </Suspense>
      )}
    </>
  );
}

/** Fetches the dialog before it is needed: after a release its file is gone, and the page below must not be. */
function useAtHand(on: boolean): void {
  useEffect(() => {
    if (!on) return;
    const timer = setTimeout(() => void load().catch(() => undefined), 3000); // when the page has what it needs itself
    return () => clearTimeout(timer);
  }, [on]);
}
