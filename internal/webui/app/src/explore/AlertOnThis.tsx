import { lazy, Suspense, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { RangeState } from '../range/useRange';
import { watchOf, type Watch } from './alert';
import { exploreQueries } from './queries';
import type { Question } from './question';

const AlertDialog = lazy(() => import('./AlertDialog'));

/** Makes an alert of the question; where none can be made of it, it says why. */
export function AlertOnThis({ question, state }: { question: Question; state: RangeState }) {
  const { t } = useTranslation('explore');
  const [asked, setAsked] = useState<Watch | null>(null);
  const { data, isPlaceholderData } = useQuery(exploreQueries.ask(question, state.range, state.holdsToday));
  const watch = data && !isPlaceholderData ? watchOf(question, data, state.range.days) : null;
  const fit = typeof watch === 'string' ? null : watch;
  return (
    <>
      <button
        type="button"
        className="quiet"
        data-edge
        disabled={fit === null}
        title={typeof watch === 'string' ? t(`alert.unfit.${watch}`) : undefined}
        onClick={() => setAsked(fit)}
      >
        {t('alert.action')}
      </button>
      {asked && (
        <Suspense>
          <AlertDialog watch={asked} onClosed={() => setAsked(null)} />
        </Suspense>
      )}
    </>
  );
}
