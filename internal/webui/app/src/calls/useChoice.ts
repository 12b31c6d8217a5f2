import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { notify } from '../ui/page/notice';
import { useSearch } from '../ui/table/useSearch';
import { agreeing, chosen, read, type Choice } from './filter';

/** What the URL of the calls chooses, and how another choice gets there; what it says wrongly is left out, with a notice. */
export function useChoice(): [Choice, (change: Partial<Choice>) => void] {
  const { t } = useTranslation('calls');
  const navigate = useNavigate();
  const [search] = useSearch();
  const { choice, bad } = read(search);
  const set = (next: Choice, replace: boolean) =>
    void navigate({ search: chosen(new URLSearchParams(window.location.search), next).toString() }, { replace });
  useEffect(() => {
    if (bad.length === 0) return;
    notify('warn', t('page.bad', { names: bad.join(', ') }));
    set(choice, true);
  });
  return [choice, (change) => set(agreeing(read(new URLSearchParams(window.location.search)).choice, change), false)];
}
