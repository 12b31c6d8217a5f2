import { lazy, Suspense, useEffect, useRef, useState, type Dispatch, type SetStateAction } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { firstDay, unrecorded } from '../range/coverage';
import { addDays, today as beijingToday } from '../range/days';
import { Block, Empty } from '../ui/Block';
import { useTellFault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { Pages } from '../ui/Pages';
import { useKeys } from '../ui/useKeys';
import { CallBones, CallTable } from './CallTable';
import { FailurePanel } from './FailurePanel';
import { rowAt } from './timeOfDay';
import { Jump } from './Jump';
import { callQueries, csvAddress, type CallPage, type Filter, type Place } from './queries';

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
export function CallLog({ applicationId, sought, opened, onOpened }: { applicationId: string; sought: string | null; opened: string | null; onOpened: Dispatch<SetStateAction<string | null>> }) {
  const { t } = useTranslation(['calls', 'common']);
  const [asked, setAsked] = useState(defaults);
  const [expanded, setExpanded] = useState<string | null>(null);
  const [hovered, setHovered] = useState(false);
  const rows = useRef<HTMLTableSectionElement>(null);
  const [seeking, setSeeking] = useState(false);
  const client = useQueryClient();
  const tell = useTellFault();

  const today = beijingToday();
  const filter: Filter = { day: dayOf(asked.chosen, today), model: asked.model, onlyFailures: asked.onlyFailures };
  const holdsToday = filter.day === today;
  const live = holdsToday && asked.page === 1;
  const query = useQuery(callQueries.page(applicationId, filter, asked, { holdsToday, live, sought }));
  const shown = useHeld(query.data, query.isPlaceholderData, JSON.stringify([filter, asked.page, asked.until]), hovered || expanded !== null || opened !== null);

  const ask = (change: Partial<Asked>) => {
    setAsked((now) => ({ ...now, page: 1, until: null, ...change }));
    setExpanded(null);
    if (change.page === undefined) onOpened(null);
  };
  // Page 1 is of now; the others are of the list whose page is on screen, so that no row comes twice.
  const placeOf = (page: number): Place => ({ page, until: page === 1 ? null : (shown.data?.until ?? null) });
  const turn = (page: number) => ask(placeOf(page));
  const landed = useRef<string | null>(null);
  const jump = async (instant: string) => {
    try {
      const found = await client.fetchQuery(callQueries.at(applicationId, filter, instant, shown.data?.until));
      const place = { page: found.page, until: found.page === 1 ? null : found.until };
      client.setQueryData(callQueries.page(applicationId, filter, place, { holdsToday, live: false, sought: null }).queryKey, found);
      landed.current = instant;
      ask(place);
    } catch (error) {
      tell(error);
    }
  };
  useEffect(() => {
    if (landed.current === null || query.isPlaceholderData || !shown.data) return;
    const row = rowAt(shown.data.items, landed.current);
    landed.current = null;
    if (row) rows.current?.querySelector<HTMLElement>(`[data-call="${row.callId}"]`)?.focus();
  }, [asked, shown.data, query.isPlaceholderData]);

  const failures = shown.data?.items.filter((call) => !call.success) ?? [];
  const at = failures.findIndex((call) => call.callId === opened);
  const pages = Math.ceil((shown.data?.total ?? 0) / 10);
  const step = (by: 1 | -1) => {
    if (seeking) return undefined; // one page at a time, however fast the key
    const near = failures[at < 0 ? (by === 1 ? 0 : failures.length - 1) : at + by];
    if (near) return () => onOpened(near.callId);
    // Where only failures are listed, the next one is on the next page.
    const page = asked.page + by;
    if (!asked.onlyFailures || page < 1 || page > pages) return undefined;
    return () => void seek(page, by === 1 ? 0 : -1);
  };
  const seek = async (page: number, at: 0 | -1) => {
    const place = placeOf(page);
    setSeeking(true);
    try {
      const { items } = await client.fetchQuery(callQueries.page(applicationId, filter, place, { holdsToday, live: false, sought: null }));
      const found = items.at(at);
      if (found) {
        setAsked((now) => (now === asked ? { ...now, ...place } : now));
        onOpened((now) => (now === opened ? found.callId : now)); // unless it was left meanwhile
      }
    } catch (error) {
      tell(error);
    }
    setSeeking(false);
  };
  const wanted = useRef(sought);
  useEffect(() => {
    const call = query.data?.items.find(({ callId }) => callId === wanted.current);
    if (call || opened !== null) wanted.current = null;
    if (call && opened === null && !call.success) onOpened(call.callId);
  }, [query.data, opened, onOpened]);

  const focusRow = (by: 1 | -1) => {
    const buttons = [...(rows.current?.querySelectorAll<HTMLElement>('.call-id') ?? [])];
    const now = buttons.findIndex((button) => button === document.activeElement);
    buttons[now < 0 ? (by === 1 ? 0 : buttons.length - 1) : Math.max(0, Math.min(buttons.length - 1, now + by))]?.focus();
  };
  const [next, previous] = [step(1), step(-1)];
  useKeys({
    j: opened === null ? () => focusRow(1) : next,
    k: opened === null ? () => focusRow(-1) : previous,
    d: next,
    e: previous,
  }, { inDialog: true });

  const back = () => onOpened(null);
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (opened === null && last.current !== null) rows.current?.querySelector<HTMLElement>(`[data-call="${last.current}"]`)?.focus();
    last.current = opened;
  }, [opened]);

  return (
    <>
      {opened !== null && (
        <FailurePanel applicationId={applicationId} callId={opened} onBack={back} onNext={next} onPrevious={previous} />
      )}
      <div hidden={opened !== null}>
        <Filters asked={asked} today={today} day={filter.day} models={shown.data?.models ?? []} live={live && !query.isError} onAsk={ask} />
        <div className="call-place" aria-live="off">
          {shown.fresh > 0 && <button type="button" className="quiet call-fresh" onClick={() => { setExpanded(null); shown.catchUp(); }}>{shown.fresh === 1 ? t('freshOne') : t('fresh', { n: String(shown.fresh) })}</button>}
          <Block query={shown.data ? ({ ...query, data: shown.data } as typeof query) : query} height={488} bones={<CallBones />}>
            {(page) => (
              <>
                <Figures page={page} asked={asked} address={csvAddress(applicationId, filter)} onAsk={ask} />
                {page.items.length === 0 ? (
                  asked.page > 1 ? (
                    <Empty text={t('common:page.past', { page: String(asked.page) })}><button type="button" className="quiet" data-edge onClick={() => turn(Math.max(1, pages))}>{t('common:page.goTo', { page: String(Math.max(1, pages)) })}</button></Empty>
                  ) : (
                    <Nothing asked={asked} day={filter.day} from={unrecorded(page) ? firstDay(page) : null} onAsk={ask} />
                  )
                ) : (
                  <div onPointerEnter={() => setHovered(true)} onPointerLeave={() => setHovered(false)}>
                    <CallTable applicationId={applicationId} body={rows} calls={page.items} expanded={expanded} onExpand={setExpanded} onOpen={onOpened} />
                  </div>
                )}
                <div className="call-foot" onPointerEnter={() => setHovered(page.items.length > 0)} onPointerLeave={() => setHovered(false)}>
                  {pages > 1 && <Jump key={filter.day} day={filter.day} onJump={jump} />}
                  <Pages page={asked.page} total={page.total} size={10} onPage={turn} />
                </div>
              </>
            )}
          </Block>
        </div>
      </div>
    </>
  );
}

/** The newest answer, unless somebody reads the one before: then how many calls came since. */
function useHeld(data: CallPage | undefined, placeholder: boolean, of: string, hold: boolean): { data: CallPage | undefined; fresh: number; catchUp: () => void } {
  const [kept, setKept] = useState({ of, data, placeholder });
  const take = kept.data !== data || kept.of !== of || kept.placeholder !== placeholder;
  if (take && (!hold || kept.of !== of || kept.placeholder)) setKept({ of, data, placeholder });
  return {
    data: kept.data,
    fresh: kept.of === of && !kept.placeholder && data && kept.data ? data.total - kept.data.total : 0,
    catchUp: () => setKept({ of, data, placeholder }),
  };
}

type Ask = (change: Partial<Asked>) => void;

function Filters({ asked, today, day, models, live, onAsk }: { asked: Asked; today: string; day: string; models: readonly string[]; live: boolean; onAsk: Ask }) {
  const { t } = useTranslation(['calls', 'common']);
  const [picking, setPicking] = useState(false);
  const dated = asked.chosen !== 'today' && asked.chosen !== 'yesterday';
  const options = asked.model !== null && !models.includes(asked.model) ? [asked.model, ...models] : models;
  return (
    <div className="row call-filters">
      <div className="choice" role="group" aria-label={t('day')}>
        {(['today', 'yesterday'] as const).map((chosen) => (
          <button key={chosen} type="button" aria-pressed={asked.chosen === chosen} onClick={() => { setPicking(false); onAsk({ chosen }); }}>{t(chosen)}</button>
        ))}
        {!picking && <button type="button" aria-pressed={dated} onClick={() => setPicking(true)}>{dated ? asked.chosen : t('date')} <Icon name="down" size={12} /></button>}
      </div>
      {picking && <Suspense><DayPicker day={day} today={today} onDay={(chosen) => { setPicking(false); onAsk({ chosen }); }} /></Suspense>}
      <select className="select" aria-label={t('model')} value={asked.model === null ? '' : `=${asked.model}`} onChange={({ target }) => onAsk({ model: target.value === '' ? null : target.value.slice(1) })}>
        <option value="">{t('allModels')}</option>
        {options.map((model) => <option key={model} value={`=${model}`}>{model === '' ? t('common:metrics.unspecified') : model}</option>)}
      </select>
      {live && <span className="call-live meta" title={t('liveHint')}><i className="live-dot" />{t('live')}</span>}
    </div>
  );
}

function Figures({ page, asked, address, onAsk }: { page: CallPage; asked: Asked; address: string; onAsk: Ask }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const { calls, successes, failures } = unrecorded(page) ? { calls: null, successes: null, failures: null } : page.summary;
  return (
    <div className="call-figures">
      <span>{t('common:metrics.calls')} <b>{format.count(calls)}</b></span>
      <span>{t('common:metrics.successes')} <b>{format.count(successes)}</b></span>
      <button type="button" className="quiet" data-edge aria-pressed={asked.onlyFailures} title={t('onlyFailures')} onClick={() => onAsk({ onlyFailures: !asked.onlyFailures })}>
        <Icon name="failed" size={12} /> {t('common:metrics.failures')} <b>{format.count(failures)}</b>
      </button>
      <a className="meta end" href={address} download>{t('download')}</a>
    </div>
  );
}

function Nothing({ asked, day, from, onAsk }: { asked: Asked; day: string; from: string | null; onAsk: Ask }) {
  const { t } = useTranslation(['calls', 'common']);
  return (
    <Empty text={from !== null ? t('unrecorded', { day, from }) : t(asked.model === null && !asked.onlyFailures ? 'none' : 'empty', { day })}>
      <div className="row">
        {asked.chosen === 'today' && <button type="button" className="quiet" data-edge onClick={() => onAsk({ chosen: 'yesterday' })}>{t('yesterday')}</button>}
        {asked.model !== null && <button type="button" className="quiet" data-edge onClick={() => onAsk({ model: null })}>{t('allModels')}</button>}
        {asked.onlyFailures && <button type="button" className="quiet" data-edge onClick={() => onAsk({ onlyFailures: false })}>{t('allResults')}</button>}
      </div>
    </Empty>
  );
}
