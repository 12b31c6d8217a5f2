import './overview.css';
import { lazy, memo, Suspense } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'react-router';
import type { Dated, Schemas } from '../api/client';
import { callsPath, ofDay } from '../calls/filter';
import { DailyBlock, preloadChart } from '../chart/DailyBlock';
import { comparable } from '../chart/series';
import { useFormat } from '../format/useFormat';
import { firstDay, unrecorded, whole } from '../range/coverage';
import { carried, presetOf } from '../range/range';
import { RangeBar, showDays } from '../range/RangeBar';
import { leaving, useRange, whileLeaving, type RangeState } from '../range/useRange';
import { TokensBlock } from '../tokens/TokensBlock';
import { Block, BlockBones, Bones } from '../ui/page/Block';
import { useTitle } from '../ui/page/useTitle';
import { overviewQueries } from './queries';
import { FiguresBones } from './FiguresBones';
import { Tiles, Unrecorded } from './Tiles';
import { UsageTable } from './UsageTable';

const BudgetLines = lazy(() => import('../budgets/BudgetLines'));
const FiringBar = lazy(() => import('../alerts/FiringBar'));
const FirstSteps = lazy(() => import('./FirstSteps'));
const Attention = lazy(() => import('../why/Attention'));
const ReasonsBlock = lazy(() => import('../why/ReasonsBlock'));
const HourlyBlock = lazy(() => import('../why/HourlyBlock'));

/** The share of failures from which on the page says at its top what fails most. */
const WORTH_A_LINE = 0.01;

preloadChart();

/** What all own applications did in a range. */
export function Component() {
  const { t } = useTranslation(['overview', 'common']);
  useTitle(t('title'));
  const state = useRange();
  const { search } = useLocation();
  const query = useQuery(overviewQueries.get(state.range, state.holdsToday));
  const canCompare = query.data === undefined || whole(state.previous.start, query.data);
  return (
    <>
      <div className="page-head">
        <h1>{t('title')}</h1>
        <RangeBar state={state} compare comparable={canCompare} />
      </div>
      <Suspense fallback={null}>
        <FiringBar />
      </Suspense>
      {query.data ? (
        <Block query={query} height={640}>
          {(data) => (
            <Figures
              data={data}
              state={state}
              search={search}
              compare={canCompare && state.comparing && !query.isPlaceholderData}
              leaving={leaving(query, state)}
            />
          )}
        </Block>
      ) : query.isError ? (
        <section className="block">
          <Block query={query} height={320}>
            {() => null}
          </Block>
        </section>
      ) : (
        <FiguresBones tiles={5} />
      )}
    </>
  );
}

interface Shown {
  data: Dated<Schemas['Overview']>;
  state: RangeState;
  /** The query of the URL. */
  search: string;
  compare: boolean;
  leaving: boolean;
}

const Figures = memo(AllFigures, whileLeaving);

function AllFigures({ data, state, search, compare }: Shown) {
  const { t } = useTranslation(['overview', 'common']);
  const format = useFormat();
  const { data: previous } = useQuery({ ...overviewQueries.get(state.previous, false), enabled: compare, placeholderData: undefined });
  const before = compare && previous ? previous : null;
  const both = before && comparable(data.daily, before.daily, state.today);
  const ranged = carried(new URLSearchParams(search));
  const why = (model: string) => {
    const next = new URLSearchParams(search);
    next.set('why', model);
    return { search: `?${next}`, hash: '#why' };
  };
  const hourPath = ({ from, to, result }: { from: string; to: string; result: 'failure' | null }) =>
    callsPath(null, ofDay(state.range.start), { from, to, result });
  // Before there is an application, figures of 0 would stand above what to do.
  if (data.applicationCount === 0 && !unrecorded(data)) return <First of="start" />;
  return (
    <>
      <section className="block" aria-label={t('title')}>
        <Tiles
          figures={data}
          coverage={data}
          calls={callsPath(null, ranged)}
          failures={{ search, hash: '#why' }}
          comparison={both && { ...both, span: format.span(state.previous.start, state.previous.end) }}
          last={{
            label: t('apps'),
            value: format.count(data.applicationCount),
            note: t('appsEnabled', { n: format.count(data.enabledCount) }),
          }}
        />
        <Suspense fallback={null}>
          <BudgetLines />
        </Suspense>
        {data.failures >= data.calls * WORTH_A_LINE && data.failures > 0 && (
          <p className="attention">
            <Suspense fallback={null}>
              <Attention state={state} ranged={ranged} calls={data.calls} />
            </Suspense>
          </p>
        )}
      </section>
      {unrecorded(data) ? (
        <Unrecorded coverage={data} onNewest={() => state.setRange(presetOf('7d', state.today))} />
      ) : data.calls === 0 ? (
        <First of="call" />
      ) : (
        <>
          {state.range.days > 1 ? (
            <DailyBlock
              title={t('daily')}
              days={data.daily}
              previous={before?.daily ?? null}
              today={state.today}
              from={firstDay(data)}
              onDays={(first, last) => showDays(state, first, last)}
            />
          ) : (
            <Suspense fallback={<BlockBones height={348} />}>
              <HourlyBlock applicationId={null} day={state.range.start} today={state.today} to={hourPath} />
            </Suspense>
          )}
          {(data.failures > 0 || new URLSearchParams(search).has('why')) && (
            <Suspense fallback={<BlockBones height={220} />}>
              <ReasonsBlock applicationId={null} state={state} ranged={ranged} />
            </Suspense>
          )}
          <TokensBlock tokens={data.tokens} cost={data.cost} totals={data.totals} />
          <UsageTable
            title={t('byCapability')}
            models={data.models}
            period={state.range}
            to={(model, result) => (result === null ? callsPath(null, ranged, { model }) : why(model))}
          />
        </>
      )}
    </>
  );
}

const First = ({ of }: { of: 'start' | 'call' }) => (
  <Suspense
    fallback={
      <section className="block">
        <Bones height={220} />
      </section>
    }
  >
    <FirstSteps of={of} />
  </Suspense>
);
