import { lazy, Suspense, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { api, unwrap } from '../api/client';
import { Menu } from '../ui/Menu';
import { useSearch } from '../ui/table/useSearch';
import { viewQueries, type View } from './queries';
import { kept } from './query';

const Confirm = lazy(() => import('../ui/form/Confirm'));

/** The views of a page that one has saved, and the way to save what is seen. */
export function SavedViews({ page }: { page: View['page'] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [search] = useSearch();
  const [asking, setAsking] = useState<'save' | View | null>(null);
  const { data } = useQuery(viewQueries.list());
  const query = kept(search);
  const views = (data?.items ?? []).filter((view) => view.page === page);
  const current = views.find((view) => view.query === query);
  const closed = (done: boolean) => {
    setAsking(null);
    if (done) void client.invalidateQueries({ queryKey: viewQueries.list().queryKey });
  };
  return (
    <>
      <Menu
        label={t('views.title')}
        className="quiet views-button"
        button={current?.name ?? t('views.title')}
        groups={[
          views.map((view) => ({
            key: view.id,
            label: view.name,
            checked: view === current,
            onSelect: () => void navigate({ search: view.query }),
          })),
          [
            current === undefined
              ? { key: 'save', label: t('views.save'), onSelect: () => setAsking('save') }
              : { key: 'delete', label: t('views.delete', { name: current.name }), onSelect: () => setAsking(current) },
          ],
        ].filter((items) => items.length > 0)}
      />
      <Suspense>
        {asking === 'save' ? (
          <Save page={page} query={query} onClosed={closed} />
        ) : (
          asking && (
            <Confirm
              title={t('views.delete', { name: asking.name })}
              action={t('views.remove')}
              danger
              run={async () => void (await unwrap(api.DELETE('/api/views/{id}', { params: { path: { id: asking.id } } })))}
              onClosed={closed}
            />
          )
        )}
      </Suspense>
    </>
  );
}

function Save({ page, query, onClosed }: { page: View['page']; query: string; onClosed: (done: boolean) => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  return (
    <Confirm
      title={t('views.save')}
      text={t('views.hint')}
      action={t('action.save')}
      ready={name.trim() !== ''}
      run={async () => void (await unwrap(api.POST('/api/views', { body: { page, name, query } })))}
      onClosed={onClosed}
    >
      <input
        className="input"
        aria-label={t('views.name')}
        autoFocus
        autoComplete="off"
        maxLength={64}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
    </Confirm>
  );
}
