import { useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from '../api/client';
import { capabilityQueries } from '../capabilities/queries';

type Capability = Schemas['CapabilityFields'];

/**
 * The capabilities on offer and those of `bound` that an administrator disabled; the state is that
 * of the offer. A disabled one bears its identifier until its name is read.
 */
export function useCapabilities(bound: readonly string[]): UseQueryResult<Capability[]> {
  const offer = useQuery(capabilityQueries.list());
  const rest = offer.data ? bound.filter((id) => !offer.data.some((capability) => capability.id === id)) : [];
  const disabled = useQueries({ queries: rest.map((id) => capabilityQueries.get(id)) });
  const names = rest.map(
    (id, n): Capability =>
      disabled[n]?.data ?? {
        id,
        name: id,
        groupId: '',
        description: '',
        sortOrder: 0,
        status: 'disabled',
        upstreamModel: '',
        defaultPath: '',
      },
  );
  return { ...offer, data: offer.data && [...offer.data, ...names] } as UseQueryResult<Capability[]>;
}
