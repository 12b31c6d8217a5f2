import { useEffect, useLayoutEffect, useRef } from 'react';
import { useLocation, useNavigationType } from 'react-router';

// By history entry, for as long as the page lives; a reload is the browser's own.
const places = new Map<string, number>();
const moves = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const; // of a reader
const GIVE_UP = 5000; // ms for a page to be as long as it was

/** Another page begins at its top; Back and Forward come to where their entry was left. */
export function useScroll(): void {
  const { key, pathname } = useLocation();
  const type = useNavigationType();
  const last = useRef<string | null>(null);
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const own = () => {
      history.scrollRestoration = 'auto';
    };
    window.addEventListener('pagehide', own);
    return () => window.removeEventListener('pagehide', own);
  }, []);
  useLayoutEffect(() => {
    const note = () => void places.set(key, window.scrollY);
    window.addEventListener('scroll', note, { passive: true });
    return () => window.removeEventListener('scroll', note);
  }, [key]);
  useEffect(() => {
    const from = last.current;
    last.current = pathname;
    if (from === null) return; // the first page is the browser's
    const place = places.get(key);
    if (type === 'POP' && place !== undefined) return comeTo(place);
    if (from !== pathname) window.scrollTo(0, 0);
  }, [key, pathname, type]);
}

/** Scrolls down as far as the page is there yet, until it is there or the reader moves. */
function comeTo(place: number): () => void {
  const grown = new ResizeObserver(() => {
    window.scrollTo(0, place);
    if (Math.abs(window.scrollY - place) < 2) stop();
  });
  const timer = setTimeout(() => stop(), GIVE_UP);
  const stop = () => {
    grown.disconnect();
    clearTimeout(timer);
    for (const move of moves) window.removeEventListener(move, stop);
  };
  for (const move of moves) window.addEventListener(move, stop, { passive: true });
  grown.observe(document.body);
  return stop;
}

/** Keeps the part of the page that the URL's hash names in view while what stands above it comes, until the reader moves. */
export function useAnchor(id: string): void {
  const { hash, key } = useLocation();
  useEffect(() => {
    if (hash !== `#${id}`) return;
    const show = () => document.getElementById(id)?.scrollIntoView({ block: 'start' });
    const grown = new ResizeObserver(show);
    const stop = () => {
      grown.disconnect();
      clearTimeout(timer);
      for (const move of moves) window.removeEventListener(move, stop);
    };
    const timer = setTimeout(() => stop(), GIVE_UP);
    for (const move of moves) window.addEventListener(move, stop, { passive: true });
    grown.observe(document.body);
    return stop;
  }, [hash, id, key]);
}
