import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Block } from '../ui/page/Block';
import { configQueries } from './queries';

/** Where the gateway is called, without a slash at its end; undefined until the server said so: a guess would be copied. */
export const useBase = (): string | undefined => useQuery(configQueries.get()).data?.publicGatewayUrl.replace(/\/+$/, '');

/**
 * What says where the gateway is called, as soon as that is known; `height` in pixels until then. `here` tells that
 * this page can call it too: the console's own host takes calls, whatever host is told to programs.
 */
export function Based({ height, children }: { height: number; children: (base: string, here: boolean) => ReactNode }) {
  const query = useQuery(configQueries.get());
  return (
    <Block query={query} height={height}>
      {(config) => children(config.publicGatewayUrl.replace(/\/+$/, ''), new URL(config.publicBaseUrl).origin === location.origin)}
    </Block>
  );
}
