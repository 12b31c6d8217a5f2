import { queryOptions } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';

export type View = Schemas['SavedView'];

export const viewQueries = {
  /** All that one has saved, those of a page by name. */
  list: () => queryOptions({ queryKey: ['views', 'list', {}], queryFn: ({ signal }) => unwrap(api.GET('/api/views', { signal })) }),
};
