import { useEffect, useRef } from 'react';
import { useSearch } from './useSearch';

/** `?new` opens the form once, as soon as the page is ready for it, and leaves the URL. */
export function useAskedToCreate(create: () => void, ready = true): void {
  const [search, setSearch] = useSearch();
  const asked = ready && search.has('new');
  const done = useRef(false); // the URL follows later, after more renders
  useEffect(() => {
    if (asked === done.current) return;
    done.current = asked;
    if (!asked) return;
    create();
    setSearch({ new: null }, { replace: true });
  });
}
