import { lazy, memo, Suspense, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Dated, Schemas } from '../api/client';
import { callsPath, ofDay, type Choice } from '../calls/filter';
import { DailyBlock, preloadChart } from '../chart/DailyBlock';
import { comparable } from '../chart/series';
import { useFormat } from '../format/useFormat';
import { FiguresBones } from '../overview/FiguresBones';
import { Tiles, Unrecorded } from '../overview/Tiles';
import { UsageTable } from '../overview/UsageTable';
import { firstDay, unrecorded, whole } from '../range/coverage';
import { presetOf } from '../range/range';
import { RangeBar, showDays } from '../range/RangeBar';
import { leaving, useRange, whileLeaving, type RangeState } from '../range/useRange';
import { TokensBlock } from '../tokens/TokensBlock';
import { Block, BlockBones, Bones, Empty } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Code } from '../ui/Copy';
import { AccessKey } from './AccessKey';
import { applicationQueries } from './queries';
import { useCapabilities } from './useCapabilities';
import { tryPath, useCurl } from './useCurl';

const FirstCall = lazy(() => import('./FirstCall'));
const ByKey = lazy(() => import('./ByKey'));
const ReasonsBlock = lazy(() => import('../why/ReasonsBlock'));
const HourlyBlock = lazy(() => import('../why/HourlyBlock'));

preloadChart();

type Application = Schemas['Application'];

interface Told {
  id: string;
  /** Null: not read yet. */
  application: Application | null;
  /** The query that names the range. */
  ranged: string;
  onBind: () => void;
}

/** The range and what the application did in it. */
export default function Usage({ id, application, ranged, onBind }: Told) {
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
              onBind={onBind}
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

interface Shown extends Told {
  data: Dated<Schemas['ApplicationStatistics']>;
  state: RangeState;
  compare: boolean;
  leaving: boolean;
}

const Figures = memo(AllFigures, whileLeaving);

function AllFigures({ id, data, state, ranged, compare, application, onBind }: Shown) {
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
        application !== null && <NoCalls of={application} onBind={onBind} />
      ) : (
        <>
          {state.range.days > 1 ? (
            <DailyBlock
              title={t('detail.daily')}
              days={data.daily}
              previous={before?.daily ?? null}
              today={state.today}
              from={firstDay(data)}
              onDays={(first, last) => showDays(state, first, last)}
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
          <UsageTable title={t('detail.byModel')} models={data.models} period={state.range} to={(model, result) => to({ model, result })} />
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

/** How to make a call, where one would succeed, and the key for it. */
function NoCalls({ of: { id, name, status, capabilityIds: bound, maskedAccessKey }, onBind }: { of: Application; onBind: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const { data } = useCapabilities(bound);
  const callable = status === 'active' ? (data ?? []) : [];
  const offer = callable.filter((capability) => bound.includes(capability.id) && capability.status === 'enabled');
  const curl = useCurl(offer);
  if (bound.length === 0)
    return (
      <section className="block">
        <Empty text={t('empty.unbound')}>
          <Button onClick={onBind}>{t('empty.bind')}</Button>
        </Empty>
      </section>
    );
  return (
    <section className="block stack">
      <p>{t(offer[0] ? 'empty.calls' : 'empty.none')}</p>
      {offer[0] && curl === null && <Bones height={110} />}
      {curl !== null && <Code text={curl} />}
      {curl !== null && <AccessKey id={id} name={name} masked={maskedAccessKey} lasting />}
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
