import { useEffect, useState } from 'react';

/** How long a shown key stays, ms. */
export const SHOWN_FOR = 60_000;

/**
 * A secret in the state of one component and nowhere else. It goes after 60 s, when the tab is
 * hidden, and with the component.
 */
export function useSecret(first: string | null = null): [string | null, (secret: string | null) => void] {
  const [secret, setSecret] = useState(first);
  useEffect(() => {
    if (secret === null) return;
    const hide = () => setSecret(null);
    const left = () => document.hidden && hide();
    const timer = setTimeout(hide, SHOWN_FOR);
    document.addEventListener('visibilitychange', left);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', left);
    };
  }, [secret]);
  return [secret, setSecret];
}
