import type { Schemas } from '../api/client';
import { firstDraft } from '../playground/request';
import { sample } from '../playground/samples';
import { useBase } from '../session/Base';

/** Where a capability is tried with an application's key. */
export const tryPath = (capabilityId: string, id: string): string => `/capabilities/${encodeURIComponent(capabilityId)}?tab=try&app=${id}`;

/** A call of the first of these capabilities that can be called; null without one, or while it is not known where. */
export function useCurl(capabilities: readonly Schemas['CapabilityFields'][]): string | null {
  const base = useBase();
  const capability = capabilities.find(({ status }) => status === 'enabled');
  if (!capability || base === undefined) return null;
  return sample('curl', base, capability.id, firstDraft(capability.defaultPath, capability.upstreamModel, 'Hello'));
}
