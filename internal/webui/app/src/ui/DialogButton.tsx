import { Suspense, useState, type ReactNode } from 'react';

/** A quiet button of a row that opens a dialog, which closes by `close`. `of` names the row for a screen reader. */
export function DialogButton({
  of,
  label,
  title,
  disabled,
  className = 'quiet',
  children,
}: {
  of: string;
  label: string;
  title?: string | undefined;
  disabled?: boolean | undefined;
  className?: string;
  children: (close: () => void) => ReactNode;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={className} data-edge disabled={disabled} onClick={() => setOpen(true)} aria-label={of} title={title}>
        {label}
      </button>
      {open && <Suspense fallback={null}>{children(() => setOpen(false))}</Suspense>}
    </>
  );
}
