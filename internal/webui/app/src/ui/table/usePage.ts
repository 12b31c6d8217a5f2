import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { notify } from '../page/notice';
import { useSearch } from './useSearch';

/** The page of a list, from 1, in the URL. What is no page number becomes 1, with a notice. */
export function usePage(): [number, (page: number) => void] {
  const { t } = useTranslation();
  const [search, setSearch] = useSearch();
  const asked = search.get('page');
  const good = asked === null || /^[1-9]\d{0,8}$/.test(asked);
  const set = (page: number, replace = false) => setSearch({ page: page === 1 ? null : String(page) }, { replace });
  useEffect(() => {
    if (good) return;
    notify('warn', t('page.bad'));
    set(1, true);
  });
  return [good && asked !== null ? Number(asked) : 1, set];
}
