import '../ui/form/field.css';
import './figures.css';
import { type ReactNode } from 'react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import type { Dated, Schemas } from '../api/client';
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
import { Block, Bones, Empty } from '../ui/page/Block';
import { PastTheEnd } from '../ui/table/PagedBlock';
import { Pages } from '../ui/table/Pages';
import { UrlSearch } from '../ui/form/SearchField';
import { CsvButton } from '../ui/table/CsvButton';
import { usePage } from '../ui/table/usePage';
import { useSearch } from '../ui/table/useSearch';
import { useTitle } from '../ui/page/useTitle';
import { ApplicationName, CapabilityName, OwnerName } from './places';
import { figuresPages } from './pages';
import { figuresQueries, SIZE, type Wanted } from './queries';
import { Standouts } from './Standouts';
import { asked, BY, ordered, sortsOf, type By } from './usage';
import { UsageTable, type Line } from './UsageTable';
import { UpstreamsTable } from './UpstreamsTable';

preloadChart();

/** What all owners used in a range, and who stands out: by owner, application, capability or upstream. */
export function Component() {
  const { t } = useTranslation(['figures', 'common']);
  useTitle(t('usage.title'));
  const state = useRange();
  const query = useQuery(figuresQueries.overview(state.range, state.holdsToday));
  const canCompare = query.data === undefined || whole(state.previous.start, query.data);
  return (
    <>
      <div className="page-head">
        <h1>{t('usage.title')}</h1>
        <RangeBar state={state} compare comparable={canCompare} />
      </div>
      {query.data ? (
        <Block query={query} height={640}>
          {(data) => <Usage data={data} state={state} compare={canCompare && state.comparing && !query.isPlaceholderData} />}
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

function Usage({ data, state, compare }: { data: Dated<Schemas['FiguresOverview']>; state: RangeState; compare: boolean }) {
  const { t } = useTranslation(['figures', 'overview', 'common']);
  const format = useFormat();
  const { data: previous } = useQuery({ ...figuresQueries.overview(state.previous, false), enabled: compare, placeholderData: undefined });
  const before = compare && previous ? previous : null;
  const both = before && comparable(data.daily, before.daily, state.today);
  const none = unrecorded(data);
  return (
    <>
      <section className="block" aria-label={t('usage.all')}>
        <Tiles
          figures={data}
          coverage={data}
          comparison={both && { ...both, span: format.span(state.previous.start, state.previous.end) }}
          last={{
            label: t('usage.calling'),
            value: none ? '—' : format.count(data.calling.applicationCount),
            note: t('usage.callingOf', { n: format.count(data.applicationCount), owners: format.count(data.calling.ownerCount) }),
          }}
        />
        {!none && data.calls > 0 && <Standouts state={state} />}
      </section>
      {none ? (
        <Unrecorded coverage={data} onNewest={() => state.setRange(presetOf('7d', state.today))} />
      ) : (
        <>
          <Lists state={state} />
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
          <TokensBlock tokens={data.tokens} cost={data.cost} totals={data.totals} />
        </>
      )}
    </>
  );
}

/** The list that the URL asks for, with its order and search. */
function Lists({ state }: { state: RangeState }) {
  const { t } = useTranslation(['figures', 'common']);
  const [search, setSearch] = useSearch();
  const [page, setPage] = usePage();
  const wanted = asked(search, page);
  const { by, sort } = wanted;
  const sought = by === 'owners' || by === 'applications';
  const choose = (one: By) =>
    setSearch({
      by: one === 'owners' ? null : one,
      page: null,
      q: null,
      owner: null,
      sort: sortsOf(one).includes(sort) && sort !== 'calls' ? sort : null,
    });
  const shown = { state, wanted, onPage: setPage };
  return (
    <section className="block" aria-label={t(`usage.by.${by}`)}>
      <div className="block-head">
        <h2>{t('usage.byTitle')}</h2>
        <div className="choice usage-by" role="group" aria-label={t('usage.byTitle')}>
          {BY.map((one) => (
            <button key={one} type="button" aria-pressed={one === by} onClick={() => choose(one)}>
              {t(`usage.by.${one}`)}
            </button>
          ))}
        </div>
        <CsvButton name={by} period={state.range} rows={figuresPages(by, state.range, wanted)} />
      </div>
      <div className="filters usage-find" role="search">
        {sought && <UrlSearch label={t(`usage.search.${by}`)} most={64} />}
        <select
          className="select"
          aria-label={t('usage.sort')}
          value={sort}
          onChange={(event) => setSearch({ page: null, sort: event.target.value === 'calls' ? null : event.target.value })}
        >
          {sortsOf(by).map((one) => (
            <option key={one} value={one}>
              {t(`usage.sorts.${one}`)}
            </option>
          ))}
        </select>
      </div>
      {by === 'owners' ? (
        <Owners {...shown} />
      ) : by === 'applications' ? (
        <Applications {...shown} onAll={() => setSearch({ owner: null, page: null })} />
      ) : by === 'capabilities' ? (
        <Capabilities {...shown} />
      ) : (
        <Upstreams {...shown} />
      )}
    </section>
  );
}

interface Shown {
  state: RangeState;
  wanted: Wanted & { by: By };
  onPage: (page: number) => void;
}

/** A page of a list, or what to do where there is nothing on it. */
function Listed<T extends { total: number; size: number }>({
  query,
  wanted: { page, q },
  onPage,
  children,
}: {
  query: UseQueryResult<T>;
  wanted: Wanted;
  onPage: (page: number) => void;
  children: (data: T) => ReactNode;
}) {
  const { t } = useTranslation(['figures', 'common']);
  return (
    <Block query={query} height={480} bones={<Bones height={480} />}>
      {(data) => {
        const pages = Math.max(1, Math.ceil(data.total / data.size));
        if (data.total === 0) return <Empty text={t(q === '' ? 'usage.nothing' : 'usage.none')} />;
        if (page > pages) return <PastTheEnd page={page} last={pages} onPage={onPage} />;
        return (
          <>
            {children(data)}
            <Pages page={page} total={data.total} size={data.size} onPage={onPage} />
          </>
        );
      }}
    </Block>
  );
}

/** The place in this page of an owner's applications. */
function useOwnersApplications(): (id: string) => string {
  const { search } = useLocation();
  return (id) => {
    const next = new URLSearchParams(search);
    for (const name of ['page', 'q']) next.delete(name);
    next.set('by', 'applications');
    next.set('owner', id);
    return `?${next}`;
  };
}

function Owners({ state, wanted, onPage }: Shown) {
  const { t } = useTranslation('figures');
  const format = useFormat();
  const to = useOwnersApplications();
  const query = useQuery(figuresQueries.owners(state.range, wanted, state.holdsToday));
  const lines = (items: readonly Schemas['OwnerFigures'][]): Line[] =>
    items.map((one) => ({
      key: one.owner.id,
      figures: one,
      name: (
        <Link to={to(one.owner.id)} title={one.owner.email}>
          {one.owner.email}
        </Link>
      ),
      about: t('usage.ofOwner', { calling: format.count(one.callingCount), all: format.count(one.applicationCount) }),
    }));
  return (
    <Listed query={query} wanted={wanted} onPage={onPage}>
      {(data) => <UsageTable title={t('usage.by.owners')} what={t('usage.owner')} sort={wanted.sort} lines={lines(data.items)} />}
    </Listed>
  );
}

function Applications({ state, wanted, onPage, onAll }: Shown & { onAll: () => void }) {
  const { t } = useTranslation('figures');
  const to = useOwnersApplications();
  const query = useQuery(figuresQueries.applications(state.range, wanted, state.holdsToday));
  const lines = (items: readonly Schemas['ApplicationFigures'][]): Line[] =>
    items.map((one) => ({
      key: one.id,
      figures: one,
      name: <ApplicationName of={one} />,
      about:
        wanted.owner === '' ? (
          <Link to={to(one.owner.id)} title={one.owner.email}>
            {one.owner.email}
          </Link>
        ) : (
          <OwnerName of={one.owner} />
        ),
    }));
  const email = query.data?.items.find(({ owner }) => owner.id === wanted.owner)?.owner.email ?? wanted.owner;
  return (
    <>
      {wanted.owner !== '' && (
        <p className="usage-only">
          <button type="button" className="quiet" data-edge onClick={onAll}>
            <span className="cut">{t('usage.only', { owner: email })}</span> ✕
          </button>
        </p>
      )}
      <Listed query={query} wanted={wanted} onPage={onPage}>
        {(data) => (
          <UsageTable title={t('usage.by.applications')} what={t('usage.application')} sort={wanted.sort} lines={lines(data.items)} />
        )}
      </Listed>
    </>
  );
}

function Capabilities({ state, wanted, onPage }: Shown) {
  const { t } = useTranslation('figures');
  const format = useFormat();
  const range = carried(new URLSearchParams(useLocation().search));
  const query = useQuery({
    ...figuresQueries.capabilities(state.range, state.holdsToday),
    select: ({ items }) => ({ items: ordered(items, (one) => one, wanted.sort), total: items.length, size: SIZE }),
  });
  const lines = (items: readonly Schemas['CapabilityFiguresLine'][]): Line[] =>
    items.map((one) => ({
      key: one.model,
      figures: one,
      name: <CapabilityName model={one.model} name={one.name} search={range} />,
      about: t('usage.ofCapability', {
        failing: format.count(one.failing.applicationCount),
        calling: format.count(one.calling.applicationCount),
      }),
    }));
  return (
    <Listed query={query} wanted={wanted} onPage={onPage}>
      {({ items }) => (
        <UsageTable
          title={t('usage.by.capabilities')}
          what={t('usage.capability')}
          sort={wanted.sort}
          lines={lines(onPageOf(items, wanted.page))}
        />
      )}
    </Listed>
  );
}

function Upstreams({ state, wanted, onPage }: Shown) {
  const query = useQuery({
    ...figuresQueries.upstreams(state.range, state.holdsToday),
    select: ({ items, ...data }: Dated<Schemas['UpstreamFigures']>) => ({
      ...data,
      items: ordered(
        items.map(({ range }) => range),
        (one) => one,
        wanted.sort,
      ),
      total: items.length,
      size: SIZE,
    }),
  });
  return (
    <Listed query={query} wanted={wanted} onPage={onPage}>
      {(data) => <UpstreamsTable items={onPageOf(data.items, wanted.page)} range={data} sort={wanted.sort} />}
    </Listed>
  );
}

const onPageOf = <T,>(items: readonly T[], page: number): T[] => items.slice((page - 1) * SIZE, page * SIZE);
