import '../ui/field.css';
import './admin.css';
import './directory.css';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../format/useFormat';
import { Block, Empty, TableBones } from '../ui/Block';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { Pages } from '../ui/Pages';
import { usePage } from '../ui/usePage';
import { useSearch } from '../ui/useSearch';
import { useTitle } from '../ui/useTitle';
import { useUrlText } from '../ui/useUrlText';
import { officeQueries, useEndSessions, USERS_SIZE, type Account } from './queries';

const Confirm = lazy(() => import('../ui/Confirm'));

const columns = ['email', 'applications', 'sessions', 'lastSignIn', 'created'] as const;
const numbers: readonly string[] = ['applications', 'sessions'];

/** Developers' accounts, by their addresses. Page and search stand in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('users.title'));
  const [page, setPage] = usePage();
  const [search, setSearch] = useSearch();
  const [text, setText] = useUrlText('q');
  const q = (search.get('q') ?? '').slice(0, 64);
  const query = useQuery(officeQueries.users({ page, q }));
  return (
    <>
      <div className="page-head">
        <h1>{t('users.title')}</h1>
      </div>
      <section className="block" aria-label={t('users.title')}>
        <div className="filters" role="search">
          <div className="search">
            <Icon name="search" />
            <input
              className="input"
              type="search"
              maxLength={64}
              aria-label={t('users.search')}
              placeholder={t('users.search')}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        </div>
        <Block query={query} height={480} bones={<TableBones roomy className="users" head={<Columns />} rows={10} columns={6} />}>
          {({ items, total }) =>
            items.length > 0 ? (
              <>
                <table className="table users">
                  <Columns />
                  <tbody>
                    {items.map((one) => (
                      <Row key={one.id} of={one} />
                    ))}
                  </tbody>
                </table>
                <Pages page={page} total={total} size={USERS_SIZE} onPage={setPage} />
              </>
            ) : total > 0 ? (
              <Empty text={t('common:page.past', { page: String(page) })}>
                <button type="button" className="quiet" data-edge onClick={() => setPage(1)}>
                  {t('common:page.goTo', { page: '1' })}
                </button>
              </Empty>
            ) : q === '' ? (
              <Empty text={t('users.empty')} />
            ) : (
              <Empty text={t('users.none')}>
                <button type="button" className="quiet" data-edge onClick={() => setSearch({ q: null, page: null })}>
                  {t('list.clear')}
                </button>
              </Empty>
            )
          }
        </Block>
      </section>
    </>
  );
}

function Columns() {
  const { t } = useTranslation('admin');
  return (
    <thead>
      <tr>
        {columns.map((key) => (
          <th key={key} scope="col" className={numbers.includes(key) ? 'right' : undefined}>
            {t(`users.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('users.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

/** A cell that names its column where there is no room for heads. */
function Cell({ name, children }: { name: (typeof columns)[number]; children: ReactNode }) {
  const { t } = useTranslation('admin');
  return (
    <td className={numbers.includes(name) ? 'right number' : 'number'}>
      <span className="meta close">{t(`users.${name}`)}</span> {children}
    </td>
  );
}

function Row({ of }: { of: Account }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  return (
    <tr>
      <td>
        <strong className="directory-name" title={of.id}>
          {of.email}
        </strong>
      </td>
      <Cell name="applications">
        {of.applicationCount === 0 ? (
          '0'
        ) : (
          <Link
            className="counted"
            to={`/admin/applications?q=${encodeURIComponent(of.email)}`}
            aria-label={t('users.applicationsOf', { n: format.count(of.applicationCount), email: of.email })}
          >
            {format.count(of.applicationCount)}
          </Link>
        )}
      </Cell>
      <Cell name="sessions">{format.count(of.sessionCount)}</Cell>
      <Cell name="lastSignIn">
        {of.lastSignInAt === null ? (
          <span title={t('users.neverHint')}>{t('users.never')}</span>
        ) : (
          <span title={format.exactTime(of.lastSignInAt)}>{format.time(of.lastSignInAt)}</span>
        )}
      </Cell>
      <Cell name="created">
        <span title={format.exactTime(of.createdAt)}>{format.time(of.createdAt)}</span>
      </Cell>
      <td>
        <div className="directory-actions">
          <Link
            className="quiet"
            data-edge
            to={`/admin/audit?actor=${encodeURIComponent(of.email)}`}
            aria-label={t('users.deedsOf', { email: of.email })}
          >
            {t('users.deeds')}
          </Link>
          <End of={of} />
        </div>
      </td>
    </tr>
  );
}

function End({ of: { id, email, sessionCount } }: { of: Account }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const [asking, setAsking] = useState(false);
  const { mutateAsync } = useEndSessions();
  const run = async () => {
    await mutateAsync(id);
    notify('ok', t('users.ended', { email }));
  };
  return (
    <>
      <button
        type="button"
        className="quiet"
        data-edge
        disabled={sessionCount === 0}
        onClick={() => setAsking(true)}
        aria-label={t('users.endOf', { email })}
      >
        {t('users.end')}
      </button>
      {asking && (
        <Suspense fallback={null}>
          <Confirm
            danger
            title={t('users.ask', { email })}
            text={t('users.askText', { n: format.count(sessionCount) })}
            action={t('users.end')}
            run={run}
            onClosed={() => setAsking(false)}
          />
        </Suspense>
      )}
    </>
  );
}
