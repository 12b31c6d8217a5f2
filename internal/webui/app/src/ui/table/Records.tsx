import './records.css';
import type { ReactNode } from 'react';

/** A cell of a `records` table: it names its column where there is no room for heads. */
export function Cell({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  return (
    <td className={className}>
      <span className="meta close">{label}</span> {children}
    </td>
  );
}
