import { useEffect, useEffectEvent, useState, type ReactNode, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { EChartsType } from './echarts';

/** A press that moves less, in pixels, is a click. */
const STILL = 4;

/**
 * Lets a drag across a drawing choose some of its parts, and tells the first and the last of them; Escape leaves all as it was. The
 * attributes are the place's, and the band over the parts that are being chosen stands beside it. A touch that goes up or down
 * scrolls the page.
 */
export function useDrag(
  place: RefObject<HTMLDivElement | null>,
  drawing: RefObject<EChartsType | null>,
  parts: number,
  onChosen: ((first: number, last: number) => void) | undefined,
): { attributes: object; band: ReactNode } {
  const { t } = useTranslation();
  const [band, setBand] = useState<{ left: number; right: number } | null>(null);
  const chosen = useEffectEvent((first: number, last: number) => onChosen?.(first, last));
  const offered = onChosen !== undefined && parts > 1;

  useEffect(() => {
    const element = place.current!;
    if (!offered) return;
    let press: { id: number; x: number; from: number; to: number; moved: boolean } | null = null;
    let swallow = false; // the click that follows a drag

    const xOf = (event: MouseEvent) => event.clientX - element.getBoundingClientRect().left;
    const center = (part: number) => Number(drawing.current!.convertToPixel({ xAxisIndex: 0 }, part));
    const half = () => (center(1) - center(0)) / 2;
    const partAt = (x: number) => Math.min(parts - 1, Math.max(0, Math.round((x - center(0)) / (2 * half()))));
    const within = (x: number) => drawing.current!.containPixel('grid', [x, element.clientHeight / 2]);
    const edge = (x: number, inwards: number) => (within(x + Math.sign(inwards)) ? x : x + inwards); // lines begin and end at the axis

    const end = () => {
      if (press?.moved && element.hasPointerCapture(press.id)) element.releasePointerCapture(press.id);
      press = null;
      setBand(null);
      document.removeEventListener('keydown', escape, true);
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      end();
    };
    const down = (event: PointerEvent) => {
      swallow = false;
      if (press || !event.isPrimary || event.button !== 0 || !drawing.current!.containPixel('grid', [xOf(event), event.offsetY])) return;
      const at = partAt(xOf(event));
      press = { id: event.pointerId, x: xOf(event), from: at, to: at, moved: false };
    };
    const move = (event: PointerEvent) => {
      if (press?.id !== event.pointerId) return;
      if (!press.moved && Math.abs(xOf(event) - press.x) <= STILL) return;
      if (!press.moved) {
        press.moved = swallow = true;
        element.setPointerCapture(event.pointerId);
        document.addEventListener('keydown', escape, true);
      }
      press.to = partAt(xOf(event));
      const [first, last] = [Math.min(press.from, press.to), Math.max(press.from, press.to)];
      setBand({ left: edge(center(first) - half(), half()), right: edge(center(last) + half(), -half()) });
    };
    const up = (event: PointerEvent) => {
      if (press?.id !== event.pointerId) return;
      const { moved, from, to } = press;
      end();
      if (moved) chosen(Math.min(from, to), Math.max(from, to));
    };
    const cancel = (event: PointerEvent) => {
      if (press?.id === event.pointerId) end();
    };
    const click = (event: MouseEvent) => {
      if (swallow) event.stopPropagation();
      swallow = false;
    };
    const listening = new AbortController();
    const { signal } = listening;
    element.addEventListener('pointerdown', down, { signal });
    element.addEventListener('pointermove', move, { signal });
    element.addEventListener('pointerup', up, { signal });
    element.addEventListener('pointercancel', cancel, { signal });
    element.addEventListener('lostpointercapture', cancel, { signal });
    element.addEventListener('click', click, { signal, capture: true });
    return () => {
      end();
      listening.abort();
    };
  }, [place, drawing, parts, offered]);

  return {
    attributes: offered ? { 'data-drag': '', 'aria-description': t('chart.drag') } : {},
    band: band && <div className="chart-band" style={{ left: band.left, width: band.right - band.left }} />,
  };
}
