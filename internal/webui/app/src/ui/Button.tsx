import './button.css';
import type { ComponentPropsWithRef } from 'react';

type Props = Omit<ComponentPropsWithRef<'button'>, 'className'> & {
  /** primary: what the page is for, once on it; text: without an edge. */
  kind?: 'primary' | 'plain' | 'text';
  danger?: boolean;
  /** What it began is under way: it keeps the focus, and further presses do nothing. */
  loading?: boolean;
  /** As wide as what it stands in. */
  block?: boolean;
};

/** A button with a word on it. Those that are one of many small ones wear the class `quiet` alone. */
export function Button({
  kind = 'plain',
  danger = false,
  loading = false,
  block = false,
  type = 'button',
  onClick,
  children,
  ...rest
}: Props) {
  return (
    <button
      {...rest}
      type={type}
      className="quiet button"
      data-edge={kind === 'plain'}
      data-kind={kind}
      data-danger={danger || undefined}
      data-block={block || undefined}
      aria-busy={loading || undefined}
      onClick={loading ? (event) => event.preventDefault() : onClick}
    >
      {loading && <i className="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}
