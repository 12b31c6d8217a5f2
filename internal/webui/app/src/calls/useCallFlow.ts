import { useEffect, useEffectEvent, useRef, useState, type RefObject } from 'react';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useTellFault } from '../ui/page/faultText';
import { useKeys } from '../ui/keys/useKeys';
import type { Filter } from './filter';
import { callQueries, type Call, type CallPage, type Place, type Source } from './queries';
import { rowAt } from './timeOfDay';

interface Asked {
  source: Source;
  filter: Filter;
  place: Place;
  holdsToday: boolean;
  live: boolean;
  /** A call that was just made and is looked for. */
  sought: string | null;
  /** Somebody reads the rows: they stay as they are. */
  hold: boolean;
  opened: string | null;
  /** Whether a step leads to every call of the list, else to its failures alone. */
  every: boolean;
  /** Another page was chosen. */
  onPlace: (place: Place) => void;
  /** Another call was chosen, and the page it is on where that is another one. */
  onStep: (callId: string, place: Place | null) => void;
}

/** The flow of calls of a filter: its page, how to turn and to jump, and the steps from call to call. */
export interface CallFlow {
  query: UseQueryResult<CallPage>;
  /** What is shown; `fresh` calls came since. */
  shown: { data: CallPage | undefined; fresh: number; catchUp: () => void };
  rows: RefObject<HTMLTableSectionElement | null>;
  pages: number;
  turn: (page: number) => void;
  jump: (instant: string) => Promise<void>;
  next: (() => void) | undefined;
  previous: (() => void) | undefined;
}

export function useCallFlow({ source, filter, place, holdsToday, live, sought, hold, opened, every, onPlace, onStep }: Asked): CallFlow {
  const rows = useRef<HTMLTableSectionElement>(null);
  const [seeking, setSeeking] = useState(false);
  const client = useQueryClient();
  const tell = useTellFault();
  const query = useQuery(callQueries.page(source, filter, place, { holdsToday, live, sought }));
  const key = JSON.stringify([source, filter, place.page, place.until]);
  const shown = useHeld(query.data, query.isPlaceholderData, key, hold);

  // Page 1 is of now; the others are of the list whose page is on screen, so that no row comes twice.
  const placeOf = (page: number): Place => ({ page, until: page === 1 ? null : (shown.data?.until ?? null) });
  const fixed = { holdsToday, live: false, sought: null };
  const [landing, setLanding] = useState<(Place & { instant: string }) | null>(null);
  const landed = useRef(landing);
  const jump = async (instant: string) => {
    try {
      const found = await client.fetchQuery(callQueries.at(source, filter, instant, shown.data?.until));
      const to = { page: found.page, until: found.page === 1 ? null : found.until };
      client.setQueryData(callQueries.page(source, filter, to, fixed).queryKey, found);
      setLanding({ ...to, instant });
      onPlace(to);
    } catch (error) {
      tell(error);
    }
  };
  useEffect(() => {
    if (landing === null || landing === landed.current || query.isPlaceholderData || !shown.data) return;
    if (landing.page !== place.page || landing.until !== place.until) return; // it is on its way
    landed.current = landing; // once
    const row = rowAt(shown.data.items, landing.instant);
    if (row) rowOf(rows.current, row.callId)?.focus();
  }, [landing, place.page, place.until, shown.data, query.isPlaceholderData]);

  const [arrived, setArrived] = useState<{ callId: string; to: Place; key: string; opened: string | null } | null>(null);
  const follow = useEffectEvent(() => {
    if (arrived?.key === key && arrived.opened === opened) onStep(arrived.callId, arrived.to); // unless it was left meanwhile
  });
  useEffect(() => follow(), [arrived]);
  const seek = async (page: number, end: 0 | -1) => {
    const to = placeOf(page);
    setSeeking(true);
    try {
      const { items } = await client.fetchQuery(callQueries.page(source, filter, to, fixed));
      const found = items.at(end);
      if (found) setArrived({ callId: found.callId, to, key, opened });
    } catch (error) {
      tell(error);
    }
    setSeeking(false);
  };
  const stops = shown.data?.items.filter((call) => every || !call.success) ?? [];
  const at = stops.findIndex(({ callId }) => callId === opened);
  const pages = Math.ceil((shown.data?.total ?? 0) / (shown.data?.size ?? 1));
  const step = (by: 1 | -1) => {
    if (seeking) return undefined; // one page at a time, however fast the key
    const near = stops[at < 0 ? (by === 1 ? 0 : stops.length - 1) : at + by];
    if (near) return () => onStep(near.callId, null);
    // Where every call of the list is stepped to, the next one is on the next page.
    const page = place.page + by;
    if (!(every || filter.result === 'failure') || page < 1 || page > pages) return undefined;
    return () => void seek(page, by === 1 ? 0 : -1);
  };
  const [next, previous] = [step(1), step(-1)];
  useRowKeys(rows, opened, !every, next, previous); // the drawer is a dialog
  return { query, shown, rows, pages, turn: (page) => onPlace(placeOf(page)), jump, next, previous };
}

const rowOf = (rows: HTMLElement | null, callId: string) => rows?.querySelector<HTMLElement>(`[data-call="${callId}"]`);

/** J and K move through the rows, and D and E from call to call; who closes a call is back on its row. */
function useRowKeys(
  rows: RefObject<HTMLElement | null>,
  opened: string | null,
  inDialog: boolean,
  next: (() => void) | undefined,
  previous: (() => void) | undefined,
): void {
  const focusRow = (by: 1 | -1) => {
    const buttons = [...(rows.current?.querySelectorAll<HTMLElement>('.call-id') ?? [])];
    const now = buttons.findIndex((button) => button === document.activeElement);
    buttons[now < 0 ? (by === 1 ? 0 : buttons.length - 1) : Math.max(0, Math.min(buttons.length - 1, now + by))]?.focus();
  };
  useKeys(
    {
      j: opened === null ? () => focusRow(1) : next,
      k: opened === null ? () => focusRow(-1) : previous,
      d: next,
      e: previous,
    },
    { inDialog },
  );
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (opened === null && last.current !== null) rowOf(rows.current, last.current)?.focus();
    last.current = opened;
  }, [rows, opened]);
}

/** The newest answer, unless somebody reads the one before: then how many calls came since. */
function useHeld(data: CallPage | undefined, placeholder: boolean, of: string, hold: boolean): CallFlow['shown'] {
  const [kept, setKept] = useState({ of, data, placeholder });
  const take = kept.data !== data || kept.of !== of || kept.placeholder !== placeholder;
  if (take && (!hold || kept.data === undefined || kept.of !== of || kept.placeholder)) setKept({ of, data, placeholder });
  return {
    data: kept.data,
    fresh: kept.of === of && !kept.placeholder && data && kept.data ? data.total - kept.data.total : 0,
    catchUp: () => setKept({ of, data, placeholder }),
  };
}

/** The call that was sought, once it is in the answer. */
export const soughtIn = (flow: CallFlow, sought: string | null): Call | undefined =>
  flow.query.data?.items.find(({ callId }) => callId === sought);
