import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap, type Schemas } from '../api/client';
import { ifUnchanged } from '../api/error';
import type { Budget, Draft } from './budgets';

/** What an override says. */
export type OverrideDraft = Schemas['BudgetOverrideDraft'];

export const budgetQueries = {
  /** Those of all own applications and keys. */
  own: () =>
    queryOptions({
      queryKey: ['budgets', 'own', {}],
      queryFn: async ({ signal }) => (await unwrap(api.GET('/api/budgets', { signal }))).items,
      staleTime: 15_000,
      refetchInterval: 30_000,
    }),
  /** Those of an application and its keys; asked again while they are looked at. */
  of: (id: string) =>
    queryOptions({
      queryKey: ['budgets', 'of', { id }],
      queryFn: ({ signal }) => unwrap(api.GET('/api/applications/{id}/budgets', { params: { path: { id } }, signal })),
      staleTime: 0,
      refetchInterval: 5_000,
    }),
};

/** Does something with own budgets; what is shown of them, and what an edit of their application has to name, is read again. */
export function useBudgetWrite<T, A>(run: (of: A) => Promise<T>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['applications', 'get'] });
      return client.invalidateQueries({ queryKey: ['budgets'] });
    },
  });
}

/** Sets all budgets of an application, or of one of its keys, where nobody has changed the application since `updatedAt`. */
export const putBudgets = (id: string, keyId: string | null, budgets: Draft[], updatedAt: string): Promise<Schemas['BudgetItems']> => {
  const header = ifUnchanged(updatedAt);
  return unwrap(
    keyId === null
      ? api.PUT('/api/applications/{id}/budgets', { params: { path: { id }, header }, body: { budgets } })
      : api.PUT('/api/applications/{id}/keys/{keyId}/budgets', { params: { path: { id, keyId }, header }, body: { budgets } }),
  );
};

const at = ({ applicationId, id }: Budget) => ({ params: { path: { id: applicationId ?? '', budgetId: id } } });

export const raise = (budget: Budget, body: OverrideDraft) =>
  unwrap(api.POST('/api/applications/{id}/budgets/{budgetId}/override', { ...at(budget), body }));

export const endRaise = (budget: Budget) => unwrap(api.DELETE('/api/applications/{id}/budgets/{budgetId}/override', at(budget)));
