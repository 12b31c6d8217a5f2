import Button from 'antd/es/button';
import { useTranslation } from 'react-i18next';
import { Link, useRouteError } from 'react-router';
import { ApiError } from '../api/error';
import { Copy } from './Copy';
import { useTitle } from './useTitle';

/** A page that does not exist. */
export function NotFound({ home = '/' }: { home?: string }) {
  const { t } = useTranslation();
  useTitle(t('notFound.title'));
  return (
    <div className="empty">
      <h1>{t('notFound.title')}</h1>
      <p className="second">{t('notFound.text')}</p>
      <Link className="quiet" data-edge to={home}>{t('action.home')}</Link>
    </div>
  );
}

// After a release, files of the page before are gone; one reload brings the new ones.
function lostChunk(error: unknown): boolean {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return error instanceof Error && /dynamically imported module|module script failed/i.test(error.message) && entry?.type !== 'reload';
}

/** A page that threw; the frame around it lives. */
export function Crash() {
  const { t } = useTranslation();
  const error = useRouteError();
  useTitle(t('crash.title'));
  if (lostChunk(error)) {
    location.reload();
    return null;
  }
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div className="fault" role="alert">
      <h1>{t('crash.title')}</h1>
      <p className="second">{t('crash.text')}</p>
      {error instanceof Error && <p className="meta mono">{error.message}</p>}
      {requestId && <Copy text={requestId} label={t('crash.copyId')} />}
      <div className="row">
        <Button type="primary" onClick={() => location.reload()}>{t('action.retry')}</Button>
        <Link className="quiet" data-edge to="/">{t('action.home')}</Link>
      </div>
    </div>
  );
}
