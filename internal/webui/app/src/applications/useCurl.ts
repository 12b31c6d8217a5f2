import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../api/client';
import { firstDraft } from '../playground/request';
import { sample } from '../playground/samples';
import { configQueries } from '../session/queries';

/** Where a capability is tried with an application's key. */
export const tryPath = (capabilityId: string, id: string): string => `/capabilities/${encodeURIComponent(capabilityId)}?tab=try&app=${id}`;

/** A call of the first of these capabilities that can be called; null without one. */
export function useCurl(capabilities: readonly Schemas['Capability'][]): string | null {
  const { data } = useQuery(configQueries.get());
  const capability = capabilities.find(({ status }) => status === 'enabled');
  if (!capability) return null;
  return sample('curl', data?.publicBaseUrl ?? location.origin, capability.id, firstDraft(capability.defaultPath, capability.upstreamModel, 'Hello'));
}
