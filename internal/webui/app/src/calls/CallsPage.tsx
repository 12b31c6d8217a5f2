import '../ui/form/field.css';
import './calls.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate, useParams } from 'react-router';
import { ApiError } from '../api/error';
import { applicationQueries } from '../applications/queries';
import { firstDay, unrecorded } from '../range/coverage';
import { carried } from '../range/range';
import { RangeBar } from '../range/RangeBar';
import { useRange, type RangeState } from '../range/useRange';
import { Empty } from '../ui/page/Block';
import { Crumb } from '../ui/page/Crumb';
import { Gone } from '../ui/page/Gone';
import { useKeys } from '../ui/keys/useKeys';
import { usePage } from '../ui/table/usePage';
import { useTitle } from '../ui/page/useTitle';
import { CallFilters } from './CallFilters';
import { CallList } from './CallList';
import { CallPageTable } from './CallTable';
import { filterOf, nothingChosen, type Choice } from './filter';
import { OwnCallPanel } from './OwnCallPanel';
import type { Place } from './queries';
import { useCallFlow } from './useCallFlow';
import { useChoice } from './useChoice';

/** The calls of one application as a place: all of its state is in the URL, and so is the call that is open. */
export function Component() {
  const { id = '' } = useParams();
  return <CallsPage key={id} id={id} />;
}

function CallsPage({ id }: { id: string }) {
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

function Flow({ id, title, state }: { id: string; title: string; state: RangeState }) {
  const { t } = useTranslation(['calls', 'common']);
  const { callId: opened = null } = useParams();
  const { search, state: left } = useLocation();
  const navigate = useNavigate();
  const [choice, choose] = useChoice();
  const [page] = usePage();
  const [hovered, setHovered] = useState(false);
  const place: Place = { page, until: page === 1 ? null : new URLSearchParams(search).get('until') };
  const filter = filterOf(state.range, choice);
  const live = state.holdsToday && page === 1 && choice.to === null;

  const list = `/applications/${id}/calls`;
  const at = ({ page, until }: Place): string => {
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of [
      ['page', page === 1 ? null : String(page)],
      ['until', until],
    ] as const) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    return next.size === 0 ? '' : `?${next}`;
  };
  const flow = useCallFlow({
    applicationId: id,
    filter,
    place,
    holdsToday: state.holdsToday,
    live,
    sought: null,
    opened,
    every: true,
    hold: hovered || opened !== null,
    onPlace: (to) => void navigate(list + at(to)),
    onStep: (callId, to) => void navigate(`${list}/${callId}${to ? at(to) : search}`, { replace: true, state: left }),
  });
  // Back to the entry of the list it was opened from, unless steps have led to another page of it.
  const close = () =>
    void ((left as { list?: string } | null)?.list === search ? navigate(-1) : navigate(list + search, { replace: true }));
  useKeys({ Escape: opened === null ? undefined : close });

  if (opened !== null) {
    return (
      <>
        <div className="page-head">
          <h1>{title}</h1>
        </div>
        <section className="block">
          <OwnCallPanel applicationId={id} callId={opened} onBack={close} onNext={flow.next} onPrevious={flow.previous} />
        </section>
      </>
    );
  }
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        <RangeBar state={state} />
      </div>
      <section className="block" aria-label={t('page.title')}>
        <CallFilters
          applicationId={id}
          state={state}
          choice={choice}
          models={flow.shown.data?.models ?? []}
          onChoose={choose}
          live={live && !flow.query.isError}
          updatedAt={flow.query.dataUpdatedAt}
        />
        <CallList
          applicationId={id}
          flow={flow}
          filter={filter}
          page={page}
          full
          onlyFailures={choice.result === 'failure'}
          onOnlyFailures={(on) => choose({ result: on ? 'failure' : null })}
          onHover={setHovered}
          onCatchUp={() => undefined}
          nothing={(data) => (
            <Nothing range={state.range} choice={choice} from={unrecorded(data) ? firstDay(data) : null} onChoose={choose} />
          )}
        >
          {(data) => <CallPageTable body={flow.rows} calls={data.items} hrefOf={(callId) => `${list}/${callId}${search}`} from={search} />}
        </CallList>
      </section>
    </>
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
