import '../../ui/form/field.css';
import '../people/directory.css';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client';
import { today } from '../../range/days';
import { Button } from '../../ui/Button';
import { UrlSearch } from '../../ui/form/SearchField';
import { useSaving } from '../../ui/table/useSaving';
import { useSearch } from '../../ui/table/useSearch';
import { anyEntry, auditQuery, NOUNS, type AuditFilter } from './auditFilter';

const AuditDays = lazy(() => import('./AuditDays'));

/** Who, what, which and when, all in the URL; and the same entries as a file. */
export function AuditFilters({ filter }: { filter: AuditFilter }) {
  const { t } = useTranslation('admin');
  const [, setSearch] = useSearch();
  const { action, start, end } = filter;
  const known = NOUNS.some((noun) => action === `${noun}.`);
  return (
    <div className="filters" role="search">
      <UrlSearch name="actor" label={t('audit.byActor')} most={254} />
      <UrlSearch name="target" label={t('audit.byTarget')} most={254} />
      <select
        className="select"
        aria-label={t('audit.byAction')}
        value={action}
        onChange={(event) => setSearch({ action: event.target.value, page: null })}
      >
        <option value="">{t('audit.everyAction')}</option>
        {NOUNS.map((noun) => (
          <option key={noun} value={`${noun}.`}>
            {t(`audit.nouns.${noun}`)}
          </option>
        ))}
        {action !== '' && !known && <option value={action}>{action}</option>}
      </select>
      <div className="audit-days">
        <Suspense fallback={<div className="input" aria-hidden="true" />}>
          <AuditDays start={start} end={end} today={today()} onChange={(days) => setSearch({ ...days, page: null })} />
        </Suspense>
      </div>
      <Download filter={filter} />
      {!anyEntry(filter) && (
        <Button kind="text" onClick={() => setSearch({ actor: null, target: null, action: null, start: null, end: null, page: null })}>
          {t('list.clear')}
        </Button>
      )}
    </div>
  );
}

/** The file is fetched with the token, which no link carries. */
function Download({ filter }: { filter: AuditFilter }) {
  const { t } = useTranslation();
  const saving = useSaving(async ({ saveFile }) => {
    const { data } = await api.GET('/api/admin/audit.csv', { params: { query: auditQuery(filter) }, parseAs: 'blob' });
    saveFile(`audit-${today()}.csv`, data as unknown as Blob);
  });
  return (
    <Button loading={saving.busy} onClick={saving.start}>
      {t('csv.download')}
    </Button>
  );
}
