import { useEffect, useEffectEvent, useId, useRef, useState, type KeyboardEvent } from 'react';
import { autoScrollWindowForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import { draggable, dropTargetForElements, monitorForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../ui/Icon';
import { moved, placeAt } from './order';

interface Named {
  id: string;
  name: string;
}

/** What is dragged: the row's id, and of which list. */
type Source = { data: Record<string | symbol, unknown> };
const idOf = ({ data }: Source) => data['id'] as string;

/** How long the keys rest before a place they chose is stored, ms; letting go of Alt stores it at once. */
const REST = 1500;

/**
 * Rows that are ordered by their handle: dragged, or moved with Alt and ↑ ↓ Home End. While one is on
 * its way `rows` is the order to come; onOrder gets it once, when it is dropped or the keys are let go.
 */
export function useReorder<T extends Named>(items: readonly T[], onOrder: (ids: string[]) => void) {
  const { t } = useTranslation('admin');
  const [dragged, setDragged] = useState<{ id: string; ids: readonly string[]; by: 'pointer' | 'keys' } | null>(null);
  const [said, setSaid] = useState('');
  const body = useRef<HTMLTableSectionElement>(null);
  const list = useId();
  const byId = new Map(items.map((item) => [item.id, item]));
  const rows = dragged ? dragged.ids.flatMap((id) => byId.get(id) ?? []) : [...items];
  const ids = rows.map(({ id }) => id);

  const say = (item: Named, next: readonly string[]) =>
    setSaid(t('order.moved', { name: item.name, place: String(next.indexOf(item.id) + 1), total: String(next.length) }));
  /** Ends what is on its way: in this order, or where it was. */
  const end = (id: string, order: readonly string[] | null) => {
    setDragged(null);
    const item = byId.get(id);
    if (!item || !order || order.every((other, n) => other === items[n]?.id)) return;
    onOrder([...order]);
    say(item, order);
  };
  const letGo = () => dragged && end(dragged.id, dragged.ids);
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

  /** The order where the row stands at a height of the window. */
  const orderAt = (id: string, clientY: number) => {
    const middles = [...(body.current?.rows ?? [])].map((row) => row.getBoundingClientRect()).map(({ top, height }) => top + height / 2);
    const from = ids.indexOf(id);
    return moved(ids, from, placeAt(clientY, middles, from));
  };
  const drag = useEffectEvent((id: string, clientY: number) => setDragged({ id, ids: orderAt(id, clientY), by: 'pointer' }));
  const drop = useEffectEvent((id: string, clientY: number | null) => end(id, clientY === null ? null : orderAt(id, clientY)));
  useEffect(() => {
    const mine = ({ source }: { source: Source }) => source.data['list'] === list;
    return combine(
      // Dropped anywhere in the window a row stays where it is shown; Escape takes it back.
      dropTargetForElements({ element: document.documentElement, canDrop: mine, getDropEffect: () => 'move' }),
      autoScrollWindowForElements({
        canScroll: mine,
        getAllowedAxis: () => 'vertical',
        getConfiguration: () => ({ maxScrollSpeed: 'fast' }),
      }),
      monitorForElements({
        canMonitor: mine,
        onDragStart: ({ source, location }) => drag(idOf(source), location.current.input.clientY),
        onDrag: ({ source, location }) => drag(idOf(source), location.current.input.clientY),
        onDrop: ({ source, location: { current } }) => drop(idOf(source), current.dropTargets.length > 0 ? current.input.clientY : null),
      }),
    );
  }, [list]);
  useEffect(() => {
    if (dragged?.by !== 'keys') return;
    const timer = setTimeout(letGo, REST);
    const released = (event: globalThis.KeyboardEvent) => event.key === 'Alt' && letGo();
    window.addEventListener('keyup', released);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('keyup', released);
    };
  });
  return {
    rows,
    handle: (item: Named) => <Handle item={item} list={list} onKeyDown={key(item)} />,
    body,
    draggedId: dragged?.id ?? null,
    live: (
      <p className="unseen" role="status">
        {said}
      </p>
    ),
  };
}

/** What a row is dragged by, and moved with keys. */
function Handle({ item: { id, name }, list, onKeyDown }: { item: Named; list: string; onKeyDown: (event: KeyboardEvent) => void }) {
  const { t } = useTranslation('admin');
  const button = useRef<HTMLButtonElement>(null);
  useEffect(
    () => draggable({ element: button.current!.closest('tr')!, dragHandle: button.current!, getInitialData: () => ({ list, id }) }),
    [list, id],
  );
  return (
    <button
      ref={button}
      type="button"
      className="quiet square handle"
      aria-label={t('order.handle', { name })}
      title={t('order.hint')}
      onKeyDown={onKeyDown}
    >
      <Icon name="handle" />
    </button>
  );
}
