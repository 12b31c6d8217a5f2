import './applications.css';
import { lazy, memo, Suspense, useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useNavigate, useParams } from 'react-router';
import type { Dated, Schemas } from '../api/client';
import { ApiError } from '../api/error';
import { BudgetsBlock } from '../budgets/BudgetsBlock';
import { callsPath, ofDay, type Choice } from '../calls/filter';
import { DailyBlock, preloadChart } from '../chart/DailyBlock';
import { comparable } from '../chart/series';
import { useFormat } from '../format/useFormat';
import { LimitsBlock } from '../limits/LimitsBlock';
import { FiguresBones } from '../overview/FiguresBones';
import { Tiles, Unrecorded } from '../overview/Tiles';
import { UsageTable } from '../overview/UsageTable';
import { firstDay, unrecorded, whole } from '../range/coverage';
import { carried, custom, presetOf } from '../range/range';
import { focusRange, RangeBar } from '../range/RangeBar';
import { leaving, useRange, whileLeaving, type RangeState } from '../range/useRange';
import { TokensBlock } from '../tokens/TokensBlock';
import { Block, BlockBones, Bones, Empty } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Code, Copy } from '../ui/Copy';
import { Crumb } from '../ui/page/Crumb';
import { Gone } from '../ui/page/Gone';
import { Icon } from '../ui/Icon';
import { StatusTag } from '../ui/Tag';
import { useTitle } from '../ui/page/useTitle';
import { AccessKey } from './AccessKey';
import { ApplicationMenu } from './ApplicationMenu';
import { Keys } from './Keys';
import { applicationQueries } from './queries';
import { useCapabilities } from './useCapabilities';
import { tryPath, useCurl } from './useCurl';
import { useDialogs, type Dialogs } from './useDialogs';

const FirstCall = lazy(() => import('./FirstCall'));
const ByKey = lazy(() => import('./ByKey'));
const ReasonsBlock = lazy(() => import('../why/ReasonsBlock'));
const FiringBar = lazy(() => import('../alerts/FiringBar'));
const HourlyBlock = lazy(() => import('../why/HourlyBlock'));

preloadChart();

/** One application: what it is, its key, what it did, what it may call. */
export function Component() {
  const { id = '' } = useParams();
  return <ApplicationPage key={id} id={id} />;
}

type Application = Schemas['Application'];

function ApplicationPage({ id }: { id: string }) {
  const { t } = useTranslation(['applications', 'common']);
  const navigate = useNavigate();
  const { search } = useLocation();
  const ranged = carried(new URLSearchParams(search));
  const list = `/applications${ranged}`;
  const query = useQuery(applicationQueries.get(id));
  const dialogs = useDialogs(() => void navigate(list, { replace: true }));
  useAskedForLog(query.data, dialogs.log);
  useTitle(query.data?.name ?? t('title'));
  if (query.error instanceof ApiError && query.error.status === 404)
    return <Gone title={t('title')} text={t('detail.gone')} to={list} back={t('detail.back')} />;
  return (
    <>
      <Crumb to={list}>{t('detail.back')}</Crumb>
      <Block query={query} height={112}>
        {(application) => <Head application={application} dialogs={dialogs} />}
      </Block>
      <Suspense fallback={null}>
        <FiringBar applicationId={id} />
      </Suspense>
      <Statistics id={id} application={query.data ?? null} ranged={ranged} />
      {query.data && <LimitsBlock application={query.data} />}
      {query.data && <BudgetsBlock application={query.data} />}
      {query.data && <Bound application={query.data} onBind={() => dialogs.edit(query.data)} />}
      {query.data && <Keys applicationId={id} ceilings={query.data.ceilings} />}
      {dialogs.open}
    </>
  );
}

interface Told {
  id: string;
  /** Null: not read yet. */
  application: Application | null;
  /** The query that names the range. */
  ranged: string;
}

/** The range and what the application did in it. */
function Statistics({ id, application, ranged }: Told) {
  const state = useRange();
  const figures = useQuery(applicationQueries.statistics(id, state.range, state.holdsToday));
  const canCompare = figures.data === undefined || whole(state.previous.start, figures.data);
  const compare = canCompare && state.comparing && !figures.isPlaceholderData;
  return (
    <>
      <div className="page-head range-head">
        <RangeBar state={state} compare comparable={canCompare} />
      </div>
      {figures.data ? (
        <Block query={figures} height={640}>
          {(data) => (
            <Figures
              id={id}
              data={data}
              state={state}
              ranged={ranged}
              compare={compare}
              application={application}
              leaving={leaving(figures, state)}
            />
          )}
        </Block>
      ) : figures.isError ? (
        <section className="block">
          <Block query={figures} height={320}>
            {() => null}
          </Block>
        </section>
      ) : (
        <FiguresBones tiles={4} />
      )}
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

function Head({ application, dialogs }: { application: Application; dialogs: Dialogs }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const { id, name, status, description, createdAt, maskedAccessKey, disabledByAdministrator: held } = application;
  return (
    <>
      <div className="page-head">
        <h1>
          {name} <StatusTag status={status} />
        </h1>
        <div className="head-actions">
          <Button kind="primary" onClick={() => dialogs.log(application)}>
            {t('log')}
          </Button>
          <Button onClick={() => dialogs.edit(application)}>{t('edit')}</Button>
          <ApplicationMenu on={application} dialogs={dialogs} edit={false} held={held} />
        </div>
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
      <section className="block">
        {description !== '' && <p className="application-about">{description}</p>}
        <AccessKey id={id} name={name} masked={maskedAccessKey} />
        <div className="application-facts meta">
          <span>
            <span>{t('id')}</span> <code>{id}</code> <Copy text={id} label={t('detail.copyId')} bare />
          </span>
          <span title={format.exactTime(createdAt)}>{t('detail.created', { time: format.time(createdAt) })}</span>
        </div>
      </section>
    </>
  );
}

interface Shown extends Told {
  data: Dated<Schemas['ApplicationStatistics']>;
  state: RangeState;
  compare: boolean;
  leaving: boolean;
}

const Figures = memo(AllFigures, whileLeaving);

function AllFigures({ id, data, state, ranged, compare, application }: Shown) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const { data: previous } = useQuery({
    ...applicationQueries.statistics(id, state.previous, false),
    enabled: compare,
    placeholderData: undefined,
  });
  const before = compare && previous ? previous : null;
  const both = before && comparable(data.daily, before.daily, state.today);
  const to = (choice: Partial<Choice>) => callsPath(id, ranged, choice);
  const openDay = (day: string) => {
    const one = day === state.today && state.range.days === 1 ? presetOf('7d', state.today) : custom(day, day, state.today);
    if (!one) return;
    state.setRange(one);
    focusRange();
  };
  const waits = useWaits(state.holdsToday && data.summary.calls === 0) && application?.status === 'active';
  return (
    <>
      {waits && (
        <section className="block" aria-label={t('first.title')}>
          <Suspense fallback={<Bones height={22} />}>
            <FirstCall applicationId={id} />
          </Suspense>
        </section>
      )}
      <section className="block" aria-label={t('detail.figures')}>
        <Tiles
          figures={data.summary}
          coverage={data}
          calls={to({})}
          failures={to({ result: 'failure' })}
          comparison={both && { ...both, span: format.span(state.previous.start, state.previous.end) }}
        />
      </section>
      {unrecorded(data) ? (
        <Unrecorded coverage={data} onNewest={() => state.setRange(presetOf('7d', state.today))} />
      ) : data.summary.calls === 0 ? (
        application !== null && <NoCalls of={application} />
      ) : (
        <>
          {state.range.days > 1 ? (
            <DailyBlock
              title={t('detail.daily')}
              days={data.daily}
              previous={before?.daily ?? null}
              today={state.today}
              from={firstDay(data)}
              onDay={openDay}
              to={(day, result) => callsPath(id, ofDay(day), { result })}
            />
          ) : (
            <Suspense fallback={<BlockBones height={348} />}>
              <HourlyBlock applicationId={id} day={state.range.start} today={state.today} to={to} />
            </Suspense>
          )}
          {data.summary.failures > 0 && (
            <Suspense fallback={<BlockBones height={220} />}>
              <ReasonsBlock applicationId={id} state={state} ranged={ranged} />
            </Suspense>
          )}
          <TokensBlock tokens={data.summary.tokens} cost={data.summary.cost} totals={data.summary.totals} />
          <UsageTable title={t('detail.byModel')} models={data.models} to={(model, result) => to({ model, result })} />
          <Suspense fallback={null}>
            <ByKey id={id} state={state} ranged={ranged} />
          </Suspense>
        </>
      )}
    </>
  );
}

/** Whether somebody came here before the first call: who waited for it is told how it went. */
function useWaits(empty: boolean): boolean {
  const [waits] = useState(empty);
  return waits;
}

/** How to make a call, where one would succeed. */
function NoCalls({ of: { id, status, capabilityIds: bound } }: { of: Application }) {
  const { t } = useTranslation(['applications', 'common']);
  const { data } = useCapabilities(bound);
  const callable = status === 'active' ? (data ?? []) : [];
  const offer = callable.filter((capability) => bound.includes(capability.id) && capability.status === 'enabled');
  const curl = useCurl(offer);
  return (
    <section className="block stack">
      <p>{t(offer[0] ? 'empty.calls' : 'empty.none')}</p>
      {offer[0] && curl === null && <Bones height={110} />}
      {curl !== null && <Code text={curl} />}
      {offer[0] && (
        <div>
          <Link className="quiet" data-edge to={tryPath(offer[0].id, id)}>
            {t('created.here')}
          </Link>
        </div>
      )}
    </section>
  );
}

function Bound({ application, onBind }: { application: Application; onBind: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const query = useCapabilities(application.capabilityIds);
  return (
    <section className="block bound-block" aria-label={t('detail.bound')}>
      <div className="block-head">
        <h2>{t('detail.bound')}</h2>
        <span className="meta number">{application.capabilityIds.length}</span>
      </div>
      {application.capabilityIds.length === 0 ? (
        <Empty text={t('empty.unbound')}>
          <Button onClick={onBind}>{t('empty.bind')}</Button>
        </Empty>
      ) : (
        <Block query={query} height={44}>
          {(capabilities) => (
            <ul className="bound">
              {capabilities
                .filter(({ id }) => application.capabilityIds.includes(id))
                .map(({ id, name, status }) => (
                  <li key={id}>
                    <Link className="cut" to={`/capabilities/${encodeURIComponent(id)}`} title={id}>
                      {name}
                    </Link>
                    {status === 'disabled' && <StatusTag status="disabled" />}
                  </li>
                ))}
            </ul>
          )}
        </Block>
      )}
    </section>
  );
}
