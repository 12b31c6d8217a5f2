import '../ui/form/field.css';
import { useTranslation } from 'react-i18next';
import { UrlSearch } from '../ui/form/SearchField';
import { useSearch } from '../ui/table/useSearch';
import { SORTS, type Wanted } from './queries';

const nothing: Wanted = { q: '', status: '', sort: 'newest' };

/** Which applications the URL asks for; what it says wrongly is as if it said nothing. */
export function useWanted(): [Wanted, (change: Partial<Wanted>) => void] {
  const [search, setSearch] = useSearch();
  const status = search.get('status');
  const wanted: Wanted = {
    q: (search.get('q') ?? '').trim().slice(0, 64),
    status: status === 'active' || status === 'disabled' ? status : '',
    sort: SORTS.find((sort) => sort === search.get('sort')) ?? nothing.sort,
  };
  const set = ({ sort, ...rest }: Partial<Wanted>) =>
    setSearch({ page: null, ...rest, ...(sort === undefined ? {} : { sort: sort === nothing.sort ? null : sort }) });
  return [wanted, set];
}

/** Whether fewer than all applications are asked for. */
export const narrowed = ({ q, status }: Wanted): boolean => q !== '' || status !== '';

/** Search, status and order of the list; all of it stands in the URL. */
export function Filters({ wanted, onChange }: { wanted: Wanted; onChange: (change: Partial<Wanted>) => void }) {
  const { t } = useTranslation(['applications', 'common']);
  return (
    <div className="filters" role="search">
      <UrlSearch label={t('find.search')} most={64} />
      <select
        className="select"
        aria-label={t('find.status')}
        value={wanted.status}
        onChange={(event) => onChange({ status: event.target.value as Wanted['status'] })}
      >
        <option value="">{t('find.allStatuses')}</option>
        <option value="active">{t('common:status.active')}</option>
        <option value="disabled">{t('common:status.disabled')}</option>
      </select>
      <select
        className="select"
        aria-label={t('find.sort')}
        value={wanted.sort}
        onChange={(event) => onChange({ sort: event.target.value as Wanted['sort'] })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {t(`find.by.${sort}`)}
          </option>
        ))}
      </select>
    </div>
  );
}
