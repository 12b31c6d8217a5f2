import { lazy, type ComponentProps } from 'react';
import { DialogButton } from './DialogButton';

const Confirm = lazy(() => import('./form/Confirm'));

/** A quiet button of a row that asks before it does what it says. `of` names the row for a screen reader. */
export function AskButton({
  of,
  disabled,
  className,
  ...ask
}: { of: string; disabled?: boolean; className?: string } & Omit<ComponentProps<typeof Confirm>, 'onClosed' | 'children'>) {
  return (
    <DialogButton of={of} label={ask.action} disabled={disabled} {...(className === undefined ? {} : { className })}>
      {(close) => <Confirm danger {...ask} onClosed={close} />}
    </DialogButton>
  );
}
