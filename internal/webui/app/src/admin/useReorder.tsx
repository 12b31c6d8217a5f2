import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon';
import { moved, placeAt } from './order';

interface Named {
  id: string;
  name: string;
}

/**
 * Rows that are ordered by their handle: dragged, or moved with Alt+↑/↓. While one is dragged
 * `rows` is the order to come; onOrder gets it when it is dropped.
 */
export function useReorder<T extends Named>(items: readonly T[], onOrder: (ids: string[]) => void) {
  const { t } = useTranslation('admin');
  const [dragged, setDragged] = useState<{ id: string; ids: string[] } | null>(null);
  const [said, setSaid] = useState('');
  const body = useRef<HTMLTableSectionElement>(null);
  const byId = new Map(items.map((item) => [item.id, item]));
  const rows = dragged ? dragged.ids.flatMap((id) => byId.get(id) ?? []) : [...items];
  const ids = rows.map(({ id }) => id);

  const put = (item: Named, next: string[]) => {
    onOrder(next);
    setSaid(t('order.moved', { name: item.name, place: String(next.indexOf(item.id) + 1), total: String(next.length) }));
  };
  const key = (item: Named) => (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || !step) return;
    event.preventDefault();
    const from = ids.indexOf(item.id);
    const next = moved(ids, from, from + step);
    if (next[from] !== item.id) put(item, next);
  };
  // On the window: a row that React moves would lose a captured pointer.
  useEffect(() => {
    if (!dragged) return;
    const drag = ({ clientY }: PointerEvent) => {
      const middles = [...(body.current?.rows ?? [])].map((row) => row.getBoundingClientRect()).map(({ top, height }) => top + height / 2);
      const from = dragged.ids.indexOf(dragged.id);
      const to = placeAt(clientY, middles, from);
      if (to !== from) setDragged({ ...dragged, ids: moved(dragged.ids, from, to) });
    };
    const drop = () => {
      setDragged(null);
      const item = byId.get(dragged.id);
      if (item && dragged.ids.some((id, n) => id !== items[n]?.id)) put(item, dragged.ids);
    };
    const cancel = () => setDragged(null);
    const listeners = [['pointermove', drag], ['pointerup', drop], ['pointercancel', cancel]] as const;
    for (const [name, listener] of listeners) window.addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of listeners) window.removeEventListener(name, listener as EventListener);
    };
  });
  const handle = (item: Named) => (
    <button
      type="button" className="quiet square handle" aria-label={t('order.handle', { name: item.name })} title={t('order.hint')} onKeyDown={key(item)}
      onPointerDown={() => setDragged({ id: item.id, ids })}
    >
      <Icon name="handle" />
    </button>
  );
  return { rows, handle, body, draggedId: dragged?.id ?? null, live: <p className="unseen" role="status">{said}</p> };
}
