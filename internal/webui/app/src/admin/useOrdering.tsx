import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { changedMeanwhile } from '../api/error';
import Confirm from '../ui/Confirm';
import { useTellFault } from '../ui/Fault';
import { newestOf, together } from './order';
import type { Order } from './queries';

interface Ordered {
  id: string;
  name: string;
  updatedAt: string;
}

/**
 * Stores an order of what was read. Where somebody else ordered it meanwhile, asks which order is to
 * stand; where they edited something else, the order is stored all the same.
 */
export function useOrdering<T extends Ordered>(
  items: readonly T[],
  store: (order: Order) => Promise<unknown>,
): { order: (ids: string[]) => void; question: ReactNode } {
  const { t } = useTranslation('admin');
  const tell = useTellFault();
  const [asked, setAsked] = useState<{ ids: string[]; current: T[] } | null>(null);
  const order = (ids: string[], read: readonly T[] = items) =>
    store({ ids, newest: newestOf(read) }).catch((error: unknown) => {
      const current = changedMeanwhile<{ items: T[] }>(error)?.items;
      if (!current) return tell(error);
      const wanted = together(
        ids,
        current.map(({ id }) => id),
      );
      const before = read.map(({ id }) => id);
      if (
        current
          .map(({ id }) => id)
          .filter((id) => before.includes(id))
          .join() === before.filter((id) => wanted.includes(id)).join()
      )
        return void order(wanted, current);
      setAsked({ ids: wanted, current });
    });
  const names = (ids: readonly string[]) => ids.map((id) => asked?.current.find((item) => item.id === id)?.name ?? id).join(' · ');
  return {
    order: (ids) => void order(ids),
    question: asked && (
      <Confirm
        title={t('order.changed')}
        text={t('order.changedText', { theirs: names(asked.current.map(({ id }) => id)), ours: names(asked.ids) })}
        action={t('order.ours')}
        cancel={t('order.theirs')}
        run={() => void order(asked.ids, asked.current)}
        onClosed={() => setAsked(null)}
      />
    ),
  };
}
