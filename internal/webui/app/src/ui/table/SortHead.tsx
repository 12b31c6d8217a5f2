import type { ReactNode } from 'react';
import { Icon } from '../Icon';
import type { Sorted } from './useOrder';

/** The head of a column that rows can be ordered by, which a press does. */
export function SortHead({
  className,
  sorted,
  onSort,
  children,
}: {
  className?: string;
  sorted: Sorted | undefined;
  onSort: () => void;
  children: ReactNode;
}) {
  return (
    <th scope="col" className={className} aria-sort={sorted}>
      <button type="button" className="sort" onClick={onSort}>
        {children}
        {sorted && <Icon name={sorted === 'ascending' ? 'up' : 'down'} size={12} />}
      </button>
    </th>
  );
}
