import { Link } from 'react-router';
import { Empty } from './Block';

/** Instead of a page whose object does not exist, with the way to where it was listed. */
export function Gone({ title, text, to, back }: { title: string; text: string; to: string; back: string }) {
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
      </div>
      <Empty text={text}>
        <Link className="quiet" data-edge to={to}>
          {back}
        </Link>
      </Empty>
    </>
  );
}
