import { useEffect, useState } from 'react';
import { useSearch } from './useSearch';

/**
 * Text of a search field that is also in the URL, under `name`. What is typed is there at once; the
 * URL follows when typing pauses, and begins at page 1. Back, or another link, changes the field.
 */
export function useUrlText(name: string): [string, (text: string) => void] {
  const [search, setSearch] = useSearch();
  const url = search.get(name) ?? '';
  const [seen, setSeen] = useState(url);
  const [typed, setTyped] = useState(url);
  const [written, setWritten] = useState(url);
  if (url !== seen) {
    setSeen(url);
    if (url !== written) {
      // not by this field
      setTyped(url);
      setWritten(url);
    }
  }
  useEffect(() => {
    if (typed === written) return;
    const timer = setTimeout(() => {
      setWritten(typed);
      setSearch({ page: null, [name]: typed }, { replace: true });
    }, 150);
    return () => clearTimeout(timer);
  }, [typed, written, name, setSearch]);
  return [typed, setTyped];
}
