import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, MOST_ROWS, unwrap, type Schemas } from '../../api/client';
import { ifUnchanged } from '../../api/error';
import type { Budget } from '../../budgets/budgets';
import type { OverrideDraft } from '../../budgets/queries';
import type { Paged } from '../queries';

export const BUDGETS_SIZE = 20;

/** For whom an administrator sets budgets: an owner by address or id, or a capability by id. */
export interface Aim {
  scope: 'owner' | 'capability';
  target: string;
}

export interface BudgetFilter {
  page: number;
  scope: '' | Budget['scope'];
  state: '' | 'over' | 'near';
  q: string;
}

/** Of those that are listed, the budgets of what is typed. */
export const budgetsOf = (listed: readonly Budget[], { scope, target }: Aim): Budget[] => {
  const name = target.trim();
  return listed.filter(
    (one) =>
      one.scope === scope && (scope === 'owner' ? [one.ownerEmail, one.ownerId].includes(name.toLowerCase()) : one.capabilityId === name),
  );
};

/** What an edit has to name that was made where there was no budget. */
const NEVER = '1970-01-01T08:00:00.000+08:00';

/** When the budgets of one owner or capability were changed last. */
export const changedAt = (budgets: readonly Budget[]): string =>
  budgets.reduce((last, { updatedAt }) => (updatedAt > last ? updatedAt : last), NEVER);

/** A page of each list. */
export const budgetLists = {
  all: (query: Omit<BudgetFilter, 'page'> & Paged, signal?: AbortSignal) =>
    unwrap(api.GET('/api/admin/budgets', { params: { query }, signal })),
  uncovered: (query: Paged, signal?: AbortSignal) => unwrap(api.GET('/api/admin/budgets/uncovered', { params: { query }, signal })),
};

export const officeBudgetQueries = {
  list: (filter: BudgetFilter) =>
    queryOptions({
      queryKey: ['budgets', 'list', filter],
      queryFn: ({ signal }) => budgetLists.all({ ...filter, size: BUDGETS_SIZE }, signal),
      staleTime: 0,
      refetchInterval: 15_000,
      placeholderData: keepPreviousData,
    }),
  /** All budgets that a subject may have, of those with its name. */
  of: ({ scope, target }: Aim) =>
    queryOptions({
      queryKey: ['budgets', 'of', { scope, target: target.trim() }],
      queryFn: async ({ signal }) =>
        budgetsOf(
          (
            await unwrap(
              api.GET('/api/admin/budgets', { params: { query: { scope, q: target.trim().toLowerCase(), size: MOST_ROWS } }, signal }),
            )
          ).items,
          { scope, target },
        ),
      staleTime: 0,
    }),
  uncovered: (page: number) =>
    queryOptions({
      queryKey: ['budgets', 'uncovered', { page }],
      queryFn: ({ signal }) => budgetLists.uncovered({ page, size: BUDGETS_SIZE }, signal),
      staleTime: 0,
      placeholderData: keepPreviousData,
    }),
};

function useWrite<T, A>(run: (of: A) => Promise<T>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSettled: () => Promise.all(['budgets', 'audit'].map((feature) => client.invalidateQueries({ queryKey: [feature] }))),
  });
}

/** Sets all budgets of an owner or a capability, where nobody has changed them since they were read. */
export const usePutBudgets = () =>
  useWrite(({ body, updatedAt }: { body: Schemas['BudgetsOfEdit']; updatedAt: string }) =>
    unwrap(api.PUT('/api/admin/budgets', { params: { header: ifUnchanged(updatedAt) }, body })),
  );

export const useRaise = () =>
  useWrite(({ id, draft }: { id: string; draft: OverrideDraft }) =>
    unwrap(api.POST('/api/admin/budgets/{id}/override', { params: { path: { id } }, body: draft })),
  );

export const useEndRaise = () =>
  useWrite(({ id }: Budget) => unwrap(api.DELETE('/api/admin/budgets/{id}/override', { params: { path: { id } } })));
