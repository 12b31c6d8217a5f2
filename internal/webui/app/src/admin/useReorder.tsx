import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon';
import { moved, placeAt, scrollStep } from './order';

interface Named {
  id: string;
  name: string;
}

/** How long the keys rest before a place they chose is stored, ms; letting go of Alt stores it at once. */
const REST = 1500;

/**
 * Rows that are ordered by their handle: dragged, or moved with Alt and ↑ ↓ Home End. While one is on
 * its way `rows` is the order to come; onOrder gets it once, when it is dropped or the keys are let go.
 */
export function useReorder<T extends Named>(items: readonly T[], onOrder: (ids: string[]) => void) {
  const { t } = useTranslation('admin');
  const [dragged, setDragged] = useState<{ id: string; ids: string[]; by: 'pointer' | 'keys' } | null>(null);
  const [said, setSaid] = useState('');
  const body = useRef<HTMLTableSectionElement>(null);
  const pointer = useRef(0); // its height in the window
  const byId = new Map(items.map((item) => [item.id, item]));
  const rows = dragged ? dragged.ids.flatMap((id) => byId.get(id) ?? []) : [...items];
  const ids = rows.map(({ id }) => id);

  const say = (item: Named, next: readonly string[]) =>
    setSaid(t('order.moved', { name: item.name, place: String(next.indexOf(item.id) + 1), total: String(next.length) }));
  const drop = () => {
    if (!dragged) return;
    setDragged(null);
    const item = byId.get(dragged.id);
    if (!item || dragged.ids.every((id, n) => id === items[n]?.id)) return;
    onOrder(dragged.ids);
    say(item, dragged.ids);
  };
  const key = (item: Named) => (event: KeyboardEvent) => {
    if (event.key === 'Escape' && dragged) return setDragged(null);
    const from = ids.indexOf(item.id);
    const to = { ArrowUp: from - 1, ArrowDown: from + 1, Home: 0, End: ids.length - 1 }[event.key];
    if (!event.altKey || to === undefined) return;
    event.preventDefault();
    const next = moved(ids, from, to);
    if (next[from] === item.id) return;
    setDragged({ id: item.id, ids: next, by: 'keys' });
    say(item, next);
    event.currentTarget.scrollIntoView({ block: 'nearest' });
  };
  // On the window: a row that React moves would lose a captured pointer.
  useEffect(() => {
    if (dragged?.by !== 'pointer') return;
    const place = () => {
      const middles = [...(body.current?.rows ?? [])].map((row) => row.getBoundingClientRect()).map(({ top, height }) => top + height / 2);
      const from = dragged.ids.indexOf(dragged.id);
      const to = placeAt(pointer.current, middles, from);
      if (to !== from) setDragged({ ...dragged, ids: moved(dragged.ids, from, to) });
    };
    const drag = ({ clientY }: PointerEvent) => {
      pointer.current = clientY;
      place();
    };
    // A list that is longer than the window comes along while the pointer is near its edge.
    let frame = 0;
    const roll = () => {
      const step = scrollStep(pointer.current, window.innerHeight);
      if (step !== 0) {
        window.scrollBy(0, step);
        place();
      }
      frame = requestAnimationFrame(roll);
    };
    frame = requestAnimationFrame(roll);
    const cancel = () => setDragged(null);
    const listeners = [
      ['pointermove', drag],
      ['pointerup', drop],
      ['pointercancel', cancel],
    ] as const;
    for (const [name, listener] of listeners) window.addEventListener(name, listener as EventListener);
    return () => {
      cancelAnimationFrame(frame);
      for (const [name, listener] of listeners) window.removeEventListener(name, listener as EventListener);
    };
  });
  useEffect(() => {
    if (dragged?.by !== 'keys') return;
    const timer = setTimeout(drop, REST);
    const letGo = (event: globalThis.KeyboardEvent) => event.key === 'Alt' && drop();
    window.addEventListener('keyup', letGo);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('keyup', letGo);
    };
  });
  const handle = (item: Named) => (
    <button
      type="button"
      className="quiet square handle"
      aria-label={t('order.handle', { name: item.name })}
      title={t('order.hint')}
      onKeyDown={key(item)}
      onPointerDown={({ clientY }) => {
        pointer.current = clientY;
        setDragged({ id: item.id, ids, by: 'pointer' });
      }}
    >
      <Icon name="handle" />
    </button>
  );
  return {
    rows,
    handle,
    body,
    draggedId: dragged?.id ?? null,
    live: (
      <p className="unseen" role="status">
        {said}
      </p>
    ),
  };
}
