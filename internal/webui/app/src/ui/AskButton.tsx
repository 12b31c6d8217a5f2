import { lazy, Suspense, useState, type ComponentProps } from 'react';

const Confirm = lazy(() => import('./form/Confirm'));

/** A quiet button of a row that asks before it does what it says. `of` names the row for a screen reader. */
export function AskButton({
  of,
  disabled,
  className = 'quiet',
  ...ask
}: { of: string; disabled?: boolean; className?: string } & Omit<ComponentProps<typeof Confirm>, 'onClosed' | 'children'>) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className={className} data-edge disabled={disabled} onClick={() => setAsking(true)} aria-label={of}>
        {ask.action}
      </button>
      {asking && (
        <Suspense fallback={null}>
          <Confirm danger {...ask} onClosed={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}
