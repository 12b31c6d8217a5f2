import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useRouteError } from 'react-router';
import { Button } from '../Button';
import { isLostChunk, reloadOnce } from './chunks';
import { RequestId } from './RequestId';
import { useTitle } from './useTitle';

/** A page that does not exist. */
export function NotFound({ home = '/' }: { home?: string }) {
  const { t } = useTranslation();
  useTitle(t('notFound.title'));
  return (
    <div className="empty">
      <h1>{t('notFound.title')}</h1>
      <p className="second">{t('notFound.text')}</p>
      <Link className="quiet" data-edge to={home}>
        {t('action.home')}
      </Link>
    </div>
  );
}

/** A page that threw; the frame around it lives. What a release took away is fetched anew, once. */
export function Crash({ home = '/' }: { home?: string }) {
  const { t } = useTranslation();
  const error = useRouteError();
  useTitle(t('crash.title'));
  const lost = isLostChunk(error);
  const [told, setTold] = useState(!lost);
  useEffect(() => {
    if (lost) void reloadOnce().then(() => setTold(true));
  }, [lost]);
  if (!told) return null;
  return (
    <div className="fault" role="alert">
      <h1>{t('crash.title')}</h1>
      <p className="second">{t(lost ? 'crash.lost' : 'crash.text')}</p>
      {error instanceof Error && <p className="meta mono">{error.message}</p>}
      <RequestId error={error} />
      <div className="row">
        <Button kind="primary" onClick={() => location.reload()}>
          {t('action.retry')}
        </Button>
        <Link className="quiet" data-edge to={home}>
          {t('action.home')}
        </Link>
      </div>
    </div>
  );
}
