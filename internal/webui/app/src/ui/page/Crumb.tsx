import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Icon } from '../Icon';

/** The way back to the list that a page belongs to. */
export function Crumb({ to, children }: { to: string; children: ReactNode }) {
  return (
    <p className="crumb meta">
      <Link to={to}>
        <Icon name="left" size={12} /> {children}
      </Link>
    </p>
  );
}
