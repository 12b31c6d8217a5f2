import { useQuery } from '@tanstack/react-query';
import { alertQueries, type Alert, type Site } from './queries';

/** How often pages that are not about alerts look at them, in ms. */
const RHYTHM = 30_000;

export const isSilenced = (of: Alert, now: number): boolean => of.silencedUntil !== null && Date.parse(of.silencedUntil) > now;

/** The alerts of a site that fire and are not silenced: all of them, or those that watch one application. */
export function useFiring(site: Site, applicationId?: string): Alert[] {
  const { data, dataUpdatedAt } = useQuery({ ...alertQueries.list(site), staleTime: RHYTHM, refetchInterval: RHYTHM });
  return (data?.items ?? []).filter(
    (one) =>
      one.enabled &&
      one.state.value === 'firing' &&
      !isSilenced(one, dataUpdatedAt) &&
      (applicationId === undefined || one.target.id === applicationId),
  );
}
