import './applications.css';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate, useParams } from 'react-router';
import type { Schemas } from '../api/client';
import { ApiError } from '../api/error';
import { callsPath } from '../calls/filter';
import { useFormat } from '../format/useFormat';
import { carried } from '../range/range';
import { Block, BlockBones } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Crumb } from '../ui/page/Crumb';
import { Gone } from '../ui/page/Gone';
import { Icon } from '../ui/Icon';
import { Sections } from '../ui/page/Sections';
import { StatusTag } from '../ui/Tag';
import { useTitle } from '../ui/page/useTitle';
import { applicationQueries } from './queries';
import { tabOf, TABS } from './tabs';
import Usage from './Usage';
import { useDialogs, type Dialogs } from './useDialogs';

const KeysTab = lazy(() => import('./KeysTab'));
const LimitsTab = lazy(() => import('./LimitsTab'));
const ApplicationAlerts = lazy(() => import('../alerts/ApplicationAlerts'));
const FiringBar = lazy(() => import('../alerts/FiringBar'));
const Settings = lazy(() => import('./Settings'));

/** One application, in tabs: what it did, and what is set for it. */
export function Component() {
  const { id = '' } = useParams();
  return <ApplicationPage key={id} id={id} />;
}

type Application = Schemas['Application'];

function ApplicationPage({ id }: { id: string }) {
  const { t } = useTranslation(['applications', 'common']);
  const navigate = useNavigate();
  const { search, hash } = useLocation();
  const asked = new URLSearchParams(search);
  const ranged = carried(asked);
  const list = `/applications${ranged}`;
  const tab = tabOf(asked, hash);
  const query = useQuery(applicationQueries.get(id));
  const dialogs = useDialogs(() => void navigate(list, { replace: true }));
  useAskedForLog(query.data, dialogs.log);
  useTitle(query.data?.name ?? t('title'));
  if (query.error instanceof ApiError && query.error.status === 404)
    return <Gone title={t('title')} text={t('detail.gone')} to={list} back={t('detail.back')} />;
  const to = (one: (typeof TABS)[number]) => {
    if (one === 'calls') return callsPath(id, ranged);
    const next = new URLSearchParams(ranged);
    if (one !== 'usage') next.set('tab', one);
    return { search: next.toString() };
  };
  return (
    <>
      <Crumb to={list}>{t('detail.back')}</Crumb>
      <Block query={query} height={36}>
        {(application) => <Head application={application} dialogs={dialogs} />}
      </Block>
      {tab !== 'alerts' && (
        <Suspense fallback={null}>
          <FiringBar applicationId={id} />
        </Suspense>
      )}
      <Sections
        label={t('tabs.label')}
        places={TABS.map((one) => ({ key: one, to: to(one), label: t(`tabs.${one}`), current: one === tab }))}
      />
      {tab === 'usage' ? (
        <Usage id={id} application={query.data ?? null} ranged={ranged} onBind={() => query.data && dialogs.edit(query.data)} />
      ) : (
        query.data && (
          <Suspense fallback={<BlockBones height={320} />}>
            {tab === 'keys' && <KeysTab application={query.data} />}
            {tab === 'limits' && <LimitsTab application={query.data} />}
            {tab === 'alerts' && <ApplicationAlerts id={id} />}
            {tab === 'settings' && <Settings application={query.data} dialogs={dialogs} />}
          </Suspense>
        )
      )}
      {dialogs.open}
    </>
  );
}

/** A link's state `log` names a call: the call log opens for it once and leaves the history, so that a reload starts closed. */
function useAskedForLog(application: Application | undefined, log: Dialogs['log']): void {
  const { pathname, state } = useLocation();
  const navigate = useNavigate();
  const asked = (state as { log?: string } | null)?.log;
  const wanted = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (asked !== undefined && wanted.current === undefined) {
      wanted.current = asked;
      void navigate({ pathname, search: window.location.search }, { replace: true, state: null, preventScrollReset: true });
    } else if (asked === undefined && wanted.current !== undefined && application) {
      log(application, wanted.current);
      wanted.current = undefined;
    }
  });
}

/** Its name, and what concerns all of its tabs. */
function Head({ application, dialogs }: { application: Application; dialogs: Dialogs }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const { name, status, disabledByAdministrator: held } = application;
  return (
    <>
      <div className="page-head">
        <h1>
          {name} <StatusTag status={status} />
        </h1>
        <Button kind="primary" onClick={() => dialogs.log(application)}>
          {t('log')}
        </Button>
      </div>
      {held && (
        <div className="bar" data-kind="warn" role="status">
          <Icon name="warn" />
          <span title={format.exactTime(held.at)}>{t('held', { at: format.time(held.at), reason: held.reason })}</span>
        </div>
      )}
      {status === 'disabled' && !held && (
        <div className="bar" data-kind="warn" role="status">
          <Icon name="warn" />
          {t('detail.off')}
          <button type="button" className="quiet" data-edge onClick={() => dialogs.setStatus(application, 'active')}>
            {t('enable')}
          </button>
        </div>
      )}
    </>
  );
}
