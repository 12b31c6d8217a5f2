import { Link, type To } from 'react-router';
import { count } from '../../format/format';

/** A number of calls, and a link to exactly these where there are any and `to` says where. */
export function Counted({ n, to, label }: { n: number | null; to?: To | undefined; label?: string | undefined }) {
  return n === null || n === 0 || to === undefined ? (
    <>{count(n)}</>
  ) : (
    <Link className="counted" to={to} aria-label={label === undefined ? undefined : `${label} ${count(n)}`}>
      {count(n)}
    </Link>
  );
}
