import { useCallback } from 'react';
import { useNavigate, useSearchParams } from 'react-router';

/** Sets what is named in the query of the URL; null and '' take it out. */
type Change = (change: Readonly<Record<string, string | null>>, how?: { replace?: boolean }) => void;

/**
 * The query of the URL, and how it is changed. The router's own setter starts from the query that was
 * last drawn, so that of two quick changes the first is lost; this one starts from the address bar.
 */
export function useSearch(): [URLSearchParams, Change] {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const change = useCallback<Change>(
    (changed, how) => {
      const next = new URLSearchParams(window.location.search);
      for (const [name, value] of Object.entries(changed)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      void navigate({ search: next.toString() }, how);
    },
    [navigate],
  );
  return [search, change];
}
