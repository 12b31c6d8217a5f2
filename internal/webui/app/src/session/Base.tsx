import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Block } from '../ui/Block';
import { configQueries } from './queries';

/** Where the gateway is called, without a slash at its end; undefined until the server said so: a guess would be copied. */
export const useBase = (): string | undefined => useQuery(configQueries.get()).data?.publicBaseUrl.replace(/\/+$/, '');

/** What says where the gateway is called, as soon as that is known; `height` in pixels until then. */
export function Based({ height, children }: { height: number; children: (base: string) => ReactNode }) {
  const query = useQuery(configQueries.get());
  return <Block query={query} height={height}>{({ publicBaseUrl }) => children(publicBaseUrl.replace(/\/+$/, ''))}</Block>;
}
