import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Fault } from './Fault';
import frame from './frame.html?raw';

/** Grey lines of the height the content will have. */
export function Bones({ height, lines = Math.max(1, Math.floor((height + 12) / 28)) }: { height: number; lines?: number }) {
  const { t } = useTranslation();
  return (
    <div className="bones" style={{ height }} role="status" aria-label={t('state.loading')}>
      {Array.from({ length: lines }, (_, n) => (
        <div key={n} className="bone" />
      ))}
    </div>
  );
}

/** A block that is on its way, its code too. */
export const BlockBones = ({ height }: { height: number }) => (
  <section className="block">
    <Bones height={height} />
  </section>
);

/** The body of a table that is on its way: as many rows, each as high as it will be. */
export function RowBones({ rows, columns }: { rows: number; columns: number }) {
  return (
    <tbody aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        <tr key={row}>
          {Array.from({ length: columns }, (_, column) => (
            <td key={column}>
              <div className="bone" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

/** A table before it is read; where it has no room, on a phone or below 1024 px if `roomy`, grey lines. */
export function TableBones({
  className = '',
  head,
  rows,
  columns,
  roomy = false,
}: {
  className?: string;
  head: ReactNode;
  rows: number;
  columns: number;
  roomy?: boolean;
}) {
  return (
    <>
      <table className={`table ${roomy ? 'roomy' : 'wide'} ${className}`}>
        {head}
        <RowBones rows={rows} columns={columns} />
      </table>
      <div className={roomy ? 'close' : 'narrow'}>
        <Bones height={rows * 44} />
      </div>
    </>
  );
}

/** The frame before the page is known, as it came with the page itself. */
export const FrameBones = () => <div dangerouslySetInnerHTML={{ __html: frame }} />;

/**
 * One query in its place. First load: a skeleton of `height` pixels, or `bones` in the shape of what
 * will be there; later: the old data stays and is dimmed; an error stands in place, or above data
 * that was read before.
 */
export function Block<T>({
  query,
  height,
  bones,
  children,
}: {
  query: UseQueryResult<T>;
  height: number;
  bones?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  const { t } = useTranslation();
  if (query.data === undefined) {
    if (query.isError) return <Fault error={query.error} onRetry={() => void query.refetch()} height={height} />;
    return bones ? (
      <div role="status" aria-label={t('state.loading')}>
        {bones}
      </div>
    ) : (
      <Bones height={height} />
    );
  }
  return (
    <>
      {query.isError && (
        <div className="bar" data-kind="warn" role="status">
          {t('state.stale')}
          <button type="button" className="quiet" onClick={() => void query.refetch()}>
            {t('action.retry')}
          </button>
        </div>
      )}
      <div className="content" data-stale={query.isPlaceholderData} aria-busy={query.isPlaceholderData}>
        {children(query.data)}
      </div>
    </>
  );
}

/** Nothing there: one sentence and what to do next. */
export function Empty({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="second">{text}</p>
      {children}
    </div>
  );
}
