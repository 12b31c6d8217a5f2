import { lazy, Suspense, useEffect, useRef, useState, type Dispatch, type SetStateAction } from 'react';
import { useTranslation } from 'react-i18next';
import { firstDay, unrecorded } from '../range/coverage';
import { addDays, today as beijingToday } from '../range/days';
import { Empty } from '../ui/page/Block';
import { Icon } from '../ui/Icon';
import { CallList } from './CallList';
import { CallTable } from './CallTable';
import { everyCall, type Filter } from './filter';
import { FailurePanel } from './FailurePanel';
import { ModelChoice } from './ModelChoice';
import { soughtIn, useCallFlow } from './useCallFlow';
import { csvAddress, type Place } from './queries';

const DayPicker = lazy(() => import('./DayPicker'));

/** The day is kept as it was meant: "today" moves on at midnight in Beijing. */
type Chosen = 'today' | 'yesterday' | (string & {});
const dayOf = (chosen: Chosen, today: string) => (chosen === 'today' ? today : chosen === 'yesterday' ? addDays(today, -1) : chosen);

interface Asked extends Place {
  chosen: Chosen;
  model: string | null;
  onlyFailures: boolean;
}

const defaults: Asked = { chosen: 'today', model: null, onlyFailures: false, page: 1, until: null };

/** Filters, figures and the flow of calls; a failed call opens its panel in the same place, the one sought by itself. */
export function CallLog({
  applicationId,
  sought,
  opened,
  onOpened,
}: {
  applicationId: string;
  sought: string | null;
  opened: string | null;
  onOpened: Dispatch<SetStateAction<string | null>>;
}) {
  const [asked, setAsked] = useState(defaults);
  const [expanded, setExpanded] = useState<string | null>(null);
  const [hovered, setHovered] = useState(false);

  const today = beijingToday();
  const day = dayOf(asked.chosen, today);
  const filter: Filter = { ...everyCall(day), model: asked.model, result: asked.onlyFailures ? 'failure' : null };
  const holdsToday = day === today;
  const live = holdsToday && asked.page === 1;
  const turn = (place: Place) => {
    setAsked((now) => ({ ...now, ...place }));
    setExpanded(null);
  };
  const ask = (change: Partial<Asked>) => {
    turn({ page: 1, until: null });
    setAsked((now) => ({ ...now, ...change }));
    onOpened(null);
  };
  const source = { applicationId };
  const flow = useCallFlow({
    source,
    filter,
    place: asked,
    holdsToday,
    live,
    sought,
    opened,
    every: false,
    hold: hovered || expanded !== null || opened !== null,
    onPlace: turn,
    onStep: (callId, place) => {
      if (place) turn(place);
      onOpened(callId);
    },
  });
  const wanted = useRef(sought);
  const found = soughtIn(flow, sought);
  useEffect(() => {
    if (wanted.current === null) return;
    if (found || opened !== null) wanted.current = null;
    if (found && opened === null && !found.success) onOpened(found.callId);
  }, [found, opened, onOpened]);

  return (
    <>
      {opened !== null && (
        <FailurePanel
          applicationId={applicationId}
          callId={opened}
          onBack={() => onOpened(null)}
          onNext={flow.next}
          onPrevious={flow.previous}
        />
      )}
      <div hidden={opened !== null}>
        <Filters
          asked={asked}
          today={today}
          day={day}
          models={flow.shown.data?.models ?? []}
          live={live && !flow.query.isError}
          onAsk={ask}
        />
        <CallList
          address={csvAddress(source, filter)}
          flow={flow}
          filter={filter}
          page={asked.page}
          onlyFailures={asked.onlyFailures}
          onOnlyFailures={(onlyFailures) => ask({ onlyFailures })}
          onHover={setHovered}
          onCatchUp={() => setExpanded(null)}
          nothing={(page) => <Nothing asked={asked} day={day} from={unrecorded(page) ? firstDay(page) : null} onAsk={ask} />}
        >
          {(page) => (
            <CallTable
              applicationId={applicationId}
              body={flow.rows}
              calls={page.items}
              expanded={expanded}
              onExpand={setExpanded}
              onOpen={onOpened}
            />
          )}
        </CallList>
      </div>
    </>
  );
}

type Ask = (change: Partial<Asked>) => void;

function Filters({
  asked,
  today,
  day,
  models,
  live,
  onAsk,
}: {
  asked: Asked;
  today: string;
  day: string;
  models: readonly string[];
  live: boolean;
  onAsk: Ask;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const [picking, setPicking] = useState(false);
  const dated = asked.chosen !== 'today' && asked.chosen !== 'yesterday';
  return (
    <div className="row call-filters">
      <div className="choice" role="group" aria-label={t('day')}>
        {(['today', 'yesterday'] as const).map((chosen) => (
          <button
            key={chosen}
            type="button"
            aria-pressed={asked.chosen === chosen}
            onClick={() => {
              setPicking(false);
              onAsk({ chosen });
            }}
          >
            {t(chosen)}
          </button>
        ))}
        {!picking && (
          <button type="button" aria-pressed={dated} onClick={() => setPicking(true)}>
            {dated ? asked.chosen : t('date')} <Icon name="down" size={12} />
          </button>
        )}
      </div>
      {picking && (
        <Suspense>
          <DayPicker
            day={day}
            today={today}
            onDay={(chosen) => {
              setPicking(false);
              onAsk({ chosen });
            }}
          />
        </Suspense>
      )}
      <ModelChoice models={models} model={asked.model} onModel={(model) => onAsk({ model })} />
      {live && (
        <span className="call-live meta" title={t('liveHint')}>
          <i className="live-dot" />
          {t('live')}
        </span>
      )}
    </div>
  );
}

function Nothing({ asked, day, from, onAsk }: { asked: Asked; day: string; from: string | null; onAsk: Ask }) {
  const { t } = useTranslation(['calls', 'common']);
  return (
    <Empty
      text={from !== null ? t('unrecorded', { day, from }) : t(asked.model === null && !asked.onlyFailures ? 'none' : 'empty', { day })}
    >
      <div className="row">
        {asked.chosen === 'today' && (
          <button type="button" className="quiet" data-edge onClick={() => onAsk({ chosen: 'yesterday' })}>
            {t('yesterday')}
          </button>
        )}
        {asked.model !== null && (
          <button type="button" className="quiet" data-edge onClick={() => onAsk({ model: null })}>
            {t('allModels')}
          </button>
        )}
        {asked.onlyFailures && (
          <button type="button" className="quiet" data-edge onClick={() => onAsk({ onlyFailures: false })}>
            {t('allResults')}
          </button>
        )}
      </div>
    </Empty>
  );
}
