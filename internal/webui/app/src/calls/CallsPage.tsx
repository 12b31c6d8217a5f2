import '../ui/form/field.css';
import './calls.css';
import { useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate, useParams } from 'react-router';
import { ApiError } from '../api/error';
import { applicationQueries } from '../applications/queries';
import { firstDay, unrecorded } from '../range/coverage';
import { carried, MOST_DAYS_READ } from '../range/range';
import { RangeBar } from '../range/RangeBar';
import { useRange, type RangeState } from '../range/useRange';
import { Empty } from '../ui/page/Block';
import { Crumb } from '../ui/page/Crumb';
import { Gone } from '../ui/page/Gone';
import { useKeys } from '../ui/keys/useKeys';
import { usePage } from '../ui/table/usePage';
import { useSearch } from '../ui/table/useSearch';
import { useTitle } from '../ui/page/useTitle';
import { useWide } from '../ui/page/useWide';
import { CallFilters, type Names } from './CallFilters';
import { SavedViews } from '../views/SavedViews';
import { CallList } from './CallList';
import { CallPageTable } from './CallTable';
import { ColumnChoice } from './ColumnChoice';
import { columnsOf } from './columns';
import { Facets } from './Facets';
import { Messages } from './Messages';
import { filterOf, nothingChosen, placeOf, type Choice, type Filter } from './filter';
import { OwnCallPanel } from './OwnCallPanel';
import { callQueries, csvAddress, PAGE_SIZES, type Facets as Counts, type PageSize, type Place } from './queries';
import { useCallFlow } from './useCallFlow';
import { useChoice } from './useChoice';

/**
 * The calls of one application, or of all own ones, as a place: all of its state is in the URL, and so is the call that is open, which
 * stands beside the list where there is room.
 */
export function Component() {
  const { id } = useParams();
  return id === undefined ? <OwnCalls /> : <CallsOfOne key={id} id={id} />;
}

function OwnCalls() {
  const { t } = useTranslation('calls');
  useTitle(t('page.title'));
  return <Flow id={null} title={t('page.title')} state={useRange()} />;
}

function CallsOfOne({ id }: { id: string }) {
  const { t } = useTranslation(['calls', 'applications', 'common']);
  const { search } = useLocation();
  const application = useQuery(applicationQueries.get(id));
  useTitle(application.data ? t('title', { name: application.data.name }) : t('page.title'));
  const state = useRange();
  const ranged = carried(new URLSearchParams(search));
  if (application.error instanceof ApiError && application.error.status === 404)
    return (
      <Gone
        title={t('page.title')}
        text={t('applications:detail.gone')}
        to={`/applications${ranged}`}
        back={t('applications:detail.back')}
      />
    );
  const name = application.data?.name ?? '';
  return (
    <>
      <Crumb to={`/applications/${id}${ranged}`}>{name || t('applications:title')}</Crumb>
      <Flow id={id} title={name === '' ? t('page.title') : t('title', { name })} state={state} />
    </>
  );
}

/** The name of the call that is open, in the URL of the calls of all applications. */
const OPENED = 'call';

/** The width from which on a call has room beside the list. */
const BESIDE = '(min-width: 1440px)';

function Flow({ id, title, state }: { id: string | null; title: string; state: RangeState }) {
  const { t } = useTranslation(['calls', 'common']);
  const { callId } = useParams();
  const { search, state: left } = useLocation();
  const navigate = useNavigate();
  const [query, setQuery] = useSearch();
  const [chosen, choose] = useChoice();
  const choice: Choice = id === null ? chosen : { ...chosen, application: null };
  const [page] = usePage();
  const [hovered, setHovered] = useState(false);
  const wide = useWide(BESIDE);
  const opened = callId ?? query.get(OPENED);
  const size = PAGE_SIZES.find((one) => String(one) === query.get('size')) ?? PAGE_SIZES[0];
  const columns = columnsOf(query.get('columns'), id === null);
  const place: Place = { page, until: page === 1 ? null : query.get('until') };
  const filter = { ...filterOf(state.range, choice), application: id ?? choice.application };
  const live = state.holdsToday && page === 1 && choice.to === null;

  const list = placeOf(id);
  const at = (change: Record<string, string | null>): string => {
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(change)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    return next.size === 0 ? '' : `?${next}`;
  };
  const toPlace = ({ page, until }: Place) => ({ page: page === 1 ? null : String(page), until });
  const hrefOf = (callId: string, to: Place | null = null): string =>
    id === null ? list + at({ ...(to && toPlace(to)), [OPENED]: callId }) : `${list}/${callId}${to ? at(toPlace(to)) : search}`;
  const source = useMemo(() => ({ size }), [size]);
  const flow = useCallFlow({
    source,
    filter,
    place,
    holdsToday: state.holdsToday,
    live,
    sought: null,
    opened,
    every: true,
    hold: hovered || opened !== null,
    onPlace: (to) => void navigate((opened !== null && wide && id !== null ? `${list}/${opened}` : list) + at(toPlace(to))),
    onStep: (callId, to) => void navigate(hrefOf(callId, to), { replace: true, state: left }),
  });
  // Back to the entry of the list it was opened from, unless steps have led to another page of it.
  const without = at({ [OPENED]: null });
  const close = () =>
    void ((left as { list?: string } | null)?.list === without ? navigate(-1) : navigate(list + without, { replace: true }));
  useKeys({ Escape: opened === null ? undefined : close });
  const names = useNames(id, filter, state, columns.includes('key') || choice.key !== null ? place.until : undefined);

  const panel = opened !== null && (
    <section className="block">
      <OwnCallPanel applicationId={id} callId={opened} onBack={close} onNext={flow.next} onPrevious={flow.previous} />
    </section>
  );
  if (panel && !wide) {
    return (
      <>
        <div className="page-head">
          <h1>{title}</h1>
        </div>
        {panel}
      </>
    );
  }
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        {id === null && <SavedViews page="calls" />}
        <RangeBar state={state} />
      </div>
      <div className={panel ? 'calls-beside' : undefined}>
        <section className="block" aria-label={t('page.title')}>
          <CallFilters
            applicationId={id}
            state={state}
            choice={choice}
            names={names}
            models={flow.shown.data?.models ?? []}
            onChoose={choose}
            live={live && !flow.query.isError}
            updatedAt={flow.query.dataUpdatedAt}
          />
          <Facets filter={filter} until={place.until} state={state} several={id === null} choice={choice} onChoose={choose} />
          <Messages filter={filter} until={place.until} state={state} several={id === null} chosen={choice.message} onChoose={choose} />
          <CallList
            address={csvAddress(id === null ? source : { applicationId: id }, filter)}
            flow={flow}
            filter={filter}
            page={page}
            columns={columns}
            match
            onlyFailures={choice.result === 'failure'}
            onOnlyFailures={(on) => choose({ result: on ? 'failure' : null })}
            onHover={setHovered}
            onCatchUp={() => undefined}
            sizes={
              <Sizes
                size={size}
                onSize={(size) => setQuery({ size: size === PAGE_SIZES[0] ? null : String(size), page: null, until: null })}
              />
            }
            nothing={(data) => (
              <Nothing range={state.range} choice={choice} from={unrecorded(data) ? firstDay(data) : null} onChoose={choose} />
            )}
          >
            {(data) => (
              <div className="scroll calls-room">
                <CallPageTable
                  body={flow.rows}
                  calls={data.items}
                  columns={columns}
                  keys={names.key}
                  opened={opened}
                  hrefOf={hrefOf}
                  from={without}
                />
              </div>
            )}
          </CallList>
          <ColumnChoice several={id === null} chosen={columns} onChoose={(columns) => setQuery({ columns })} />
        </section>
        {panel}
      </div>
    </>
  );
}

/** The names of the application's keys, else of those that facets count; these where keys are to be seen, as of `until`. */
function useNames(id: string | null, filter: Filter, state: RangeState, until: string | null | undefined): Names {
  const { data: keys } = useQuery({ ...applicationQueries.keys(id ?? ''), enabled: id !== null });
  const { data: counts } = useQuery({
    ...callQueries.facets(filter, until ?? null, state.holdsToday),
    enabled: id === null && until !== undefined && state.range.days <= MOST_DAYS_READ,
  });
  const { data: application } = useQuery({ ...applicationQueries.get(filter.application ?? ''), enabled: filter.application !== null });
  return useMemo(() => {
    const named = (values: Counts['key']) =>
      values.flatMap(({ value, name }): [string, string][] => (name === null ? [] : [[value, name]]));
    return {
      key: new Map([...named(counts?.key ?? []), ...(keys?.items ?? []).map(({ id, name }): [string, string] => [id, name])]),
      application: new Map(application ? [[application.id, application.name]] : []),
    };
  }, [counts, keys, application]);
}

function Sizes({ size, onSize }: { size: PageSize; onSize: (size: PageSize) => void }) {
  const { t } = useTranslation('calls');
  return (
    <select
      className="select call-size"
      aria-label={t('page.size')}
      value={size}
      onChange={({ target }) => onSize(Number(target.value) as PageSize)}
    >
      {PAGE_SIZES.map((one) => (
        <option key={one} value={one}>
          {t('page.sizeOf', { n: String(one) })}
        </option>
      ))}
    </select>
  );
}

function Nothing({
  range: { start, end },
  choice,
  from,
  onChoose,
}: {
  range: { start: string; end: string };
  choice: Choice;
  from: string | null;
  onChoose: (change: Partial<Choice>) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const narrowed = Object.values(choice).some((value) => value !== null && value !== '') || choice.model === '';
  return (
    <Empty text={from !== null ? t('page.unrecorded', { from }) : t(narrowed ? 'page.empty' : 'page.none', { start, end })}>
      {narrowed && from === null && (
        <button type="button" className="quiet" data-edge onClick={() => onChoose(nothingChosen)}>
          {t('page.clear')}
        </button>
      )}
    </Empty>
  );
}
