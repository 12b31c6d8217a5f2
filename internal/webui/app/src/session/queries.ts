import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../api/client';

export const configQueries = {
  /** How this installation is set up; the same for as long as the page lives. */
  get: () => queryOptions({ queryKey: ['config', 'get', {}], queryFn: () => unwrap(api.GET('/api/config')), staleTime: Infinity }),
};
