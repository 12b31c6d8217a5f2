import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { changedMeanwhile } from '../../api/error';
import Confirm from '../../ui/form/Confirm';
import { useTellFault } from '../../ui/page/faultText';
import { idsOf, together } from './order';
import type { Order } from '../writes';

/** Stores an order of what was read. Where somebody else ordered it meanwhile, asks which order is to stand. */
export function useOrdering<T extends { id: string; name: string }>(
  items: readonly T[],
  store: (order: Order<T>) => Promise<unknown>,
): { order: (ids: string[]) => void; question: ReactNode } {
  const { t } = useTranslation('admin');
  const tell = useTellFault();
  const [asked, setAsked] = useState<{ ids: string[]; current: T[] } | null>(null);
  const order = (ids: string[], read: readonly T[]) =>
    store({ ids, read }).catch((error: unknown) => {
      const current = changedMeanwhile<{ items: T[] }>(error)?.items;
      if (!current) return tell(error);
      setAsked({ ids: together(ids, idsOf(current)), current });
    });
  const names = (ids: readonly string[]) => ids.map((id) => asked?.current.find((item) => item.id === id)?.name ?? id).join(' · ');
  return {
    order: (ids) => void order(ids, items),
    question: asked && (
      <Confirm
        title={t('order.changed')}
        text={t('order.changedText', { theirs: names(idsOf(asked.current)), ours: names(asked.ids) })}
        action={t('order.ours')}
        cancel={t('order.theirs')}
        run={() => void order(asked.ids, asked.current)}
        onClosed={() => setAsked(null)}
      />
    ),
  };
}
