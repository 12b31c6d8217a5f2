import '../../ui/form/field.css';
import '../office.css';
import './directory.css';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../../format/useFormat';
import { AskButton } from '../../ui/AskButton';
import { Empty, TableBones } from '../../ui/page/Block';
import { Email } from '../../ui/Email';
import { notify } from '../../ui/page/notice';
import { Cell } from '../../ui/table/Records';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { UrlSearch } from '../../ui/form/SearchField';
import { usePage } from '../../ui/table/usePage';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { officeQueries, USERS_SIZE, type Account, lists, wholeOf } from '../queries';
import { useEndSessions } from '../writes';

const MoveAll = lazy(() => import('./MoveAll'));

const columns = ['email', 'applications', 'sessions', 'lastSignIn', 'created'] as const;
const numbers: readonly string[] = ['applications', 'sessions'];

/** Developers' accounts, by their addresses. Page and search stand in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('users.title'));
  const [page, setPage] = usePage();
  const [search, setSearch] = useSearch();
  const q = (search.get('q') ?? '').slice(0, 64);
  const query = useQuery(officeQueries.users({ page, q }));
  return (
    <>
      <div className="page-head">
        <h1>{t('users.title')}</h1>
      </div>
      <section className="block" aria-label={t('users.title')}>
        <div className="filters" role="search">
          <UrlSearch label={t('users.search')} most={64} />
        </div>
        <PagedBlock
          query={query}
          height={480}
          bones={<TableBones roomy className="records users" head={<Columns />} rows={10} columns={6} />}
          page={page}
          size={USERS_SIZE}
          onPage={setPage}
          csv={{ name: 'users', rows: wholeOf(lists.users, { q }) }}
          empty={
            q === '' ? (
              <Empty text={t('users.empty')} />
            ) : (
              <Empty text={t('users.none')}>
                <button type="button" className="quiet" data-edge onClick={() => setSearch({ q: null, page: null })}>
                  {t('list.clear')}
                </button>
              </Empty>
            )
          }
        >
          {({ items }) => (
            <table className="table records users">
              <Columns />
              <tbody>
                {items.map((one) => (
                  <Row key={one.id} of={one} />
                ))}
              </tbody>
            </table>
          )}
        </PagedBlock>
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

function Row({ of }: { of: Account }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  return (
    <tr>
      <td>
        <strong className="directory-name" title={of.id}>
          <Email of={of.email} />
        </strong>
      </td>
      <Cell label={t('users.applications')} className="right number">
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
      <Cell label={t('users.sessions')} className="right number">
        {format.count(of.sessionCount)}
      </Cell>
      <Cell label={t('users.lastSignIn')} className="number">
        {of.lastSignInAt === null ? (
          <span title={t('users.neverHint')}>{t('users.never')}</span>
        ) : (
          <span title={format.exactTime(of.lastSignInAt)}>{format.time(of.lastSignInAt)}</span>
        )}
      </Cell>
      <Cell label={t('users.created')} className="number">
        <span title={format.exactTime(of.createdAt)}>{format.time(of.createdAt)}</span>
      </Cell>
      <td>
        <div className="record-actions">
          <Link
            className="quiet"
            data-edge
            to={`/admin/audit?actor=${encodeURIComponent(of.email)}`}
            aria-label={t('users.deedsOf', { email: of.email })}
          >
            {t('users.deeds')}
          </Link>
          <Move of={of} />
          <End of={of} />
        </div>
      </td>
    </tr>
  );
}

/** Gives their applications to another owner, as when they leave. */
function Move({ of }: { of: Account }) {
  const { t } = useTranslation('admin');
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button
        type="button"
        className="quiet"
        data-edge
        disabled={of.applicationCount === 0}
        onClick={() => setAsking(true)}
        aria-label={t('users.moveOf', { email: of.email })}
      >
        {t('users.move')}
      </button>
      {asking && (
        <Suspense fallback={null}>
          <MoveAll of={of} onClosed={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}

function End({ of: { id, email, sessionCount } }: { of: Account }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const { mutateAsync } = useEndSessions();
  const run = async () => {
    await mutateAsync(id);
    notify('ok', t('users.ended', { email }));
  };
  return (
    <AskButton
      of={t('users.endOf', { email })}
      disabled={sessionCount === 0}
      title={t('users.ask', { email })}
      text={t('users.askText', { n: format.count(sessionCount) })}
      action={t('users.end')}
      run={run}
    />
  );
}
