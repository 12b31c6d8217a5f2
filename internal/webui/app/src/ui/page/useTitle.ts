import { useEffect } from 'react';

/** The tab's title, which a screen reader says when the page changes. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Callgate' : `${title} · Callgate`;
  }, [title]);
}
