import { useTranslation } from 'react-i18next';
import { useFormat } from '../../format/useFormat';
import { Icon } from '../Icon';
import { pageNumbers } from './pageNumbers';

/** ‹ 1 2 … 9 ›, on a phone with fewer numbers; nothing for a single page. */
export function Pages({ page, total, size, onPage }: { page: number; total: number; size: number; onPage: (page: number) => void }) {
  const { t } = useTranslation();
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1 && page === 1) return null;
  // Not `disabled`, which would take the focus from who comes to an end.
  const step = (to: number, possible: boolean) => ({
    'aria-disabled': !possible,
    onClick: () => {
      if (possible) onPage(to);
    },
  });
  return (
    <nav className="pages" aria-label={t('page.label')}>
      <button
        type="button"
        className="quiet square"
        data-edge
        aria-label={t('page.previous')}
        {...step(Math.min(page - 1, pages), page > 1)}
      >
        <Icon name="left" />
      </button>
      <Numbers className="wide" page={page} pages={pages} near={1} onPage={onPage} />
      <Numbers className="narrow" page={page} pages={pages} near={0} onPage={onPage} />
      <button type="button" className="quiet square" data-edge aria-label={t('page.next')} {...step(page + 1, page < pages)}>
        <Icon name="right" />
      </button>
    </nav>
  );
}

function Numbers({
  className,
  page,
  pages,
  near,
  onPage,
}: {
  className: string;
  page: number;
  pages: number;
  near: number;
  onPage: (page: number) => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <ol className={className}>
      {pageNumbers(page, pages, near).map((n, at) =>
        n === null ? (
          <li key={`gap ${at}`} aria-hidden="true">
            …
          </li>
        ) : (
          <li key={n}>
            <button
              type="button"
              className="quiet page"
              aria-current={n === page ? 'page' : undefined}
              onClick={() => onPage(n)}
              aria-label={
                n === page
                  ? t('page.of', { page: format.count(n), pages: format.count(pages) })
                  : t('page.number', { page: format.count(n) })
              }
            >
              {format.count(n)}
            </button>
          </li>
        ),
      )}
    </ol>
  );
}
