import './figures.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useParams } from 'react-router';
import type { Dated, Schemas } from '../api/client';
import { ApiError } from '../api/error';
import { DailyBlock, preloadChart } from '../chart/DailyBlock';
import { comparable } from '../chart/series';
import { useFormat } from '../format/useFormat';
import { FiguresBones } from '../overview/FiguresBones';
import { Tiles, Unrecorded } from '../overview/Tiles';
import { firstDay, unrecorded, whole } from '../range/coverage';
import { carried, presetOf } from '../range/range';
import { RangeBar, showDays } from '../range/RangeBar';
import { useRange, type RangeState } from '../range/useRange';
import { TokensBlock } from '../tokens/TokensBlock';
import { Block, Empty } from '../ui/page/Block';
import { Crumb } from '../ui/page/Crumb';
import { Gone } from '../ui/page/Gone';
import { StatusTag } from '../ui/Tag';
import { CsvButton } from '../ui/table/CsvButton';
import { useTitle } from '../ui/page/useTitle';
import { CallersTable } from './CallersTable';
import { HourLine } from './HourLine';
import { figuresQueries } from './queries';
import { UpstreamsTable } from './UpstreamsTable';
import { WhyTable } from './WhyTable';

preloadChart();

/** The figures of one capability over all owners, and whom its failures hit. */
export function Component() {
  const { id = '' } = useParams();
  return <CapabilityFigures key={id} id={id} />;
}

function CapabilityFigures({ id }: { id: string }) {
  const { t } = useTranslation(['figures', 'admin', 'common']);
  const state = useRange();
  const query = useQuery(figuresQueries.capability(id, state.range, state.holdsToday));
  const range = carried(new URLSearchParams(useLocation().search));
  const back = `/admin/usage${range}${range === '' ? '?' : '&'}by=capabilities`;
  useTitle(query.data ? t('capability.title', { name: query.data.capability.name }) : t('link.figures'));
  if (query.error instanceof ApiError && query.error.status === 404)
    return <Gone title={t('link.figures')} text={t('capability.gone')} to={back} back={t('capability.back')} />;
  const canCompare = query.data === undefined || whole(state.previous.start, query.data);
  const editor = `/admin/capabilities/${encodeURIComponent(id)}`;
  return (
    <>
      <Crumb to={back}>{t('capability.back')}</Crumb>
      <div className="page-head">
        <h1>
          {query.data?.capability.name ?? id} {query.data && <StatusTag status={query.data.capability.status} />}
        </h1>
        <div className="row">
          <Link className="quiet" data-edge to={editor}>
            {t('link.edit')}
          </Link>
          <Link className="quiet" data-edge to={`/admin/prices?capability=${encodeURIComponent(id)}`}>
            {t('admin:prices.title')}
          </Link>
        </div>
      </div>
      <div className="page-head range-head">
        <RangeBar state={state} compare comparable={canCompare} />
      </div>
      {query.data ? (
        <Block query={query} height={640}>
          {(data) => <Figures id={id} data={data} state={state} compare={canCompare && state.comparing && !query.isPlaceholderData} />}
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

function Figures({
  id,
  data,
  state,
  compare,
}: {
  id: string;
  data: Dated<Schemas['CapabilityFigures']>;
  state: RangeState;
  compare: boolean;
}) {
  const { t } = useTranslation(['figures', 'overview', 'common']);
  const format = useFormat();
  const { data: previous } = useQuery({
    ...figuresQueries.capability(id, state.previous, false),
    enabled: compare,
    placeholderData: undefined,
  });
  const before = compare && previous ? previous : null;
  const both = before && comparable(data.daily, before.daily, state.today);
  const { search } = useLocation();
  return (
    <>
      <section className="block" aria-label={t('link.figures')}>
        <Tiles
          figures={data.summary}
          coverage={data}
          failures={{ search, hash: '#why' }}
          comparison={both && { ...both, span: format.span(state.previous.start, state.previous.end) }}
          last={{
            label: t('capability.hit'),
            value: unrecorded(data) ? '—' : format.count(data.failing.applicationCount),
            note: t('capability.hitOf', { n: format.count(data.calling.applicationCount), owners: format.count(data.failing.ownerCount) }),
          }}
        />
        <HourLine hours={data.hours} />
      </section>
      {unrecorded(data) ? (
        <Unrecorded coverage={data} onNewest={() => state.setRange(presetOf('7d', state.today))} />
      ) : data.summary.calls === 0 ? (
        <section className="block">
          <Empty text={t('common:chart.none')} />
        </section>
      ) : (
        <>
          {data.summary.failures > 0 && <WhyTable reasons={data.reasons} period={state.range} />}
          <CallersTable callers={data.applications} period={state.range} />
          {state.range.days > 1 && (
            <DailyBlock
              title={t('overview:daily')}
              days={data.daily}
              previous={before?.daily ?? null}
              today={state.today}
              from={firstDay(data)}
              onDays={(first, last) => showDays(state, first, last)}
            />
          )}
          <section className="block" aria-label={t('upstreams.title')}>
            <div className="block-head">
              <h2>{t('upstreams.title')}</h2>
              <CsvButton name="upstreams" period={state.range} rows={data.upstreams} />
            </div>
            <UpstreamsTable items={data.upstreams} firstByte={data.firstByte} range={data} />
          </section>
          <TokensBlock tokens={data.summary.tokens} cost={data.summary.cost} totals={data.summary.totals} />
        </>
      )}
    </>
  );
}
