import { useTranslation } from 'react-i18next';
import { Icon } from './Icon';

/** ‹ Page 2 of 7 ›; nothing for a single page. Its ends are not disabled: that would take the focus away. */
export function Pages({ page, total, size, onPage }: { page: number; total: number; size: number; onPage: (page: number) => void }) {
  const { t } = useTranslation();
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav className="pages" aria-label={t('page.label')}>
      <button type="button" className="quiet square" data-edge aria-disabled={page <= 1} aria-label={t('page.previous')} onClick={() => page > 1 && onPage(Math.min(page - 1, pages))}><Icon name="left" /></button>
      <span>{t('page.of', { page: String(page), pages: String(pages) })}</span>
      <button type="button" className="quiet square" data-edge aria-disabled={page >= pages} aria-label={t('page.next')} onClick={() => page < pages && onPage(page + 1)}><Icon name="right" /></button>
    </nav>
  );
}
