import { useEffect, useRef, type RefObject } from 'react';
import { init, type EChartsType } from './echarts';

/** A drawing in a place of the page, which follows its size; the place, and the drawing once it is there. */
export function useDrawing(): [place: RefObject<HTMLDivElement | null>, drawing: RefObject<EChartsType | null>] {
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<EChartsType | null>(null);
  useEffect(() => {
    const made = init(place.current!);
    drawing.current = made;
    const resize = new ResizeObserver(() => made.resize());
    resize.observe(place.current!);
    return () => {
      resize.disconnect();
      made.dispose();
    };
  }, []);
  return [place, drawing];
}
