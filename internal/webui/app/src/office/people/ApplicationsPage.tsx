import '../../ui/form/field.css';
import '../office.css';
import './directory.css';
import { lazy } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../../format/useFormat';
import { DialogButton } from '../../ui/DialogButton';
import { Empty, TableBones } from '../../ui/page/Block';
import { Email } from '../../ui/Email';
import { notify } from '../../ui/page/notice';
import { Cell } from '../../ui/table/Records';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { UrlSearch } from '../../ui/form/SearchField';
import { StatusTag } from '../../ui/Tag';
import { usePage } from '../../ui/table/usePage';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { DIRECTORY_SIZE, officeQueries, type DirectoryFilter, type Listed, lists, wholeOf } from '../queries';
import { useJudge } from '../writes';

const Confirm = lazy(() => import('../../ui/form/Confirm'));
const DisableApplication = lazy(() => import('./DisableApplication'));
const MoveApplication = lazy(() => import('./MoveApplication'));

const columns = ['name', 'owner', 'status', 'bound', 'lastCall', 'created'] as const;
const statuses = ['active', 'disabled', 'disabledByAdministrator'] as const;
const orders = ['name', 'owner'] as const;

/** All applications of all owners. Page, search, status and order stand in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('directory.title'));
  const [page, setPage] = usePage();
  const [search, setSearch] = useSearch();
  const filter: DirectoryFilter & { page: number } = {
    page,
    q: (search.get('q') ?? '').slice(0, 64),
    status: statuses.find((one) => one === search.get('status')) ?? '',
    sort: orders.find((one) => one === search.get('sort')) ?? '',
  };
  const query = useQuery(officeQueries.applications(filter));
  return (
    <>
      <div className="page-head">
        <h1>{t('directory.title')}</h1>
      </div>
      <section className="block" aria-label={t('directory.title')}>
        <Filters filter={filter} onChange={(change) => setSearch({ ...change, page: null })} />
        <PagedBlock
          query={query}
          height={480}
          bones={<TableBones roomy className="records directory" head={<Columns />} rows={10} columns={7} />}
          page={page}
          size={DIRECTORY_SIZE}
          onPage={setPage}
          csv={{ name: 'applications', rows: wholeOf(lists.applications, { q: filter.q, status: filter.status, sort: filter.sort }) }}
          empty={
            filter.q === '' && filter.status === '' ? (
              <Empty text={t('directory.empty')} />
            ) : (
              <Empty text={t('directory.none')}>
                <button type="button" className="quiet" data-edge onClick={() => setSearch({ q: null, status: null, page: null })}>
                  {t('list.clear')}
                </button>
              </Empty>
            )
          }
        >
          {({ items, lastCallsKnown }) => (
            <>
              {!lastCallsKnown && (
                <p className="meta directory-note" role="status">
                  {t('directory.lastUnknown')}
                </p>
              )}
              <table className="table records directory">
                <Columns />
                <tbody>
                  {items.map((one) => (
                    <Row key={one.id} of={one} known={lastCallsKnown} />
                  ))}
                </tbody>
              </table>
            </>
          )}
        </PagedBlock>
      </section>
    </>
  );
}

function Filters({ filter, onChange }: { filter: DirectoryFilter; onChange: (change: { status: string } | { sort: string }) => void }) {
  const { t } = useTranslation('admin');
  return (
    <div className="filters" role="search">
      <UrlSearch label={t('directory.search')} most={64} />
      <select
        className="select"
        aria-label={t('list.status')}
        value={filter.status}
        onChange={(event) => onChange({ status: event.target.value })}
      >
        <option value="">{t('list.allStatuses')}</option>
        {statuses.map((one) => (
          <option key={one} value={one}>
            {t(`directory.statuses.${one}`)}
          </option>
        ))}
      </select>
      <select
        className="select"
        aria-label={t('directory.order')}
        value={filter.sort}
        onChange={(event) => onChange({ sort: event.target.value })}
      >
        <option value="">{t('directory.orders.newest')}</option>
        {orders.map((one) => (
          <option key={one} value={one}>
            {t(`directory.orders.${one}`)}
          </option>
        ))}
      </select>
    </div>
  );
}

function Columns() {
  const { t } = useTranslation('admin');
  return (
    <thead>
      <tr>
        {columns.map((key) => (
          <th key={key} scope="col" className={key === 'bound' ? 'right' : key === 'created' ? 'wider' : undefined}>
            {t(`directory.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('directory.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Row({ of, known }: { of: Listed; known: boolean }) {
  const { t } = useTranslation(['admin', 'common']);
  const format = useFormat();
  const last = of.lastCallAt === null ? (known ? t('directory.never') : '—') : format.time(of.lastCallAt);
  return (
    <tr>
      <td>
        <strong className="directory-name">{of.name}</strong>
        <code className="meta directory-id" title={of.id}>
          {of.id}
        </code>
      </td>
      <Cell label={t('directory.owner')}>
        <Link to={`/admin/users?q=${encodeURIComponent(of.owner.email)}`}>
          <Email of={of.owner.email} />
        </Link>
      </Cell>
      <Cell label={t('directory.status')}>
        {of.status === 'active' ? <span className="second">{t('common:status.active')}</span> : <StatusTag status={of.status} />}
        <Why of={of} />
      </Cell>
      <Cell label={t('directory.bound')} className="right number">
        {format.count(of.capabilityCount)}
      </Cell>
      <Cell label={t('directory.lastCall')} className="number">
        <span title={of.lastCallAt === null ? undefined : format.exactTime(of.lastCallAt)}>{last}</span>
      </Cell>
      <Cell label={t('directory.created')} className="number wider">
        <span title={format.exactTime(of.createdAt)}>{format.time(of.createdAt)}</span>
      </Cell>
      <td>
        <div className="record-actions">
          <Link
            className="quiet"
            data-edge
            to={`/admin/limits?q=${encodeURIComponent(of.name)}`}
            aria-label={t('directory.limitsOf', { name: of.name })}
          >
            {t('directory.limits')}
          </Link>
          <Move of={of} />
          <Judge of={of} />
        </div>
      </td>
    </tr>
  );
}

/** Who has disabled it, since when, and why. */
function Why({ of: { status, disabledByOwner, disabledByAdministrator: held } }: { of: Listed }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  if (status !== 'disabled') return null;
  return (
    <>
      {disabledByOwner && <span className="meta directory-why">{t('directory.byOwner')}</span>}
      {held && (
        <span className="meta directory-why" title={format.exactTime(held.at)}>
          {t('directory.byAdministrator', { by: held.by, at: format.time(held.at) })}{' '}
          <span className="directory-reason">{t('directory.reason', { reason: held.reason })}</span>
        </span>
      )}
    </>
  );
}

/** Gives it to another owner. */
function Move({ of }: { of: Listed }) {
  const { t } = useTranslation('admin');
  return (
    <DialogButton of={t('directory.moveOf', { name: of.name })} label={t('directory.move')} title={t('directory.moveHint')}>
      {(close) => <MoveApplication of={of} onClosed={close} />}
    </DialogButton>
  );
}

/** Disables it, or takes an administrator's disabling back. */
function Judge({ of }: { of: Listed }) {
  const { t } = useTranslation('admin');
  const { mutateAsync } = useJudge();
  const { id, name, updatedAt, disabledByOwner } = of;
  const enable = async () => {
    const now = await mutateAsync({ id, body: { status: 'active' }, updatedAt });
    notify('ok', t(now.status === 'active' ? 'directory.enabled' : 'directory.enabledNotByOwner', { name }));
  };
  if (of.disabledByAdministrator === null)
    return (
      <DialogButton of={t('directory.disableOf', { name })} label={t('directory.disable')}>
        {(close) => <DisableApplication of={of} onClosed={close} />}
      </DialogButton>
    );
  return (
    <DialogButton of={t('directory.enableOf', { name })} label={t('directory.enable')}>
      {(close) => (
        <Confirm
          title={t('directory.askEnable', { name })}
          text={t(disabledByOwner ? 'directory.askEnableBoth' : 'directory.askEnableText')}
          action={t('directory.enable')}
          run={enable}
          onClosed={close}
        />
      )}
    </DialogButton>
  );
}
