import '../../ui/form/field.css';
import '../office.css';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../../format/useFormat';
import { Empty, TableBones } from '../../ui/page/Block';
import { useTellFault } from '../../ui/page/faultText';
import { Icon } from '../../ui/Icon';
import { notify } from '../../ui/page/notice';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { UrlSearch } from '../../ui/form/SearchField';
import { usePage } from '../../ui/table/usePage';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { LIST_SIZE, officeQueries, orderable, type Capability, type Filter, lists, wholeOf } from '../queries';
import { useOrderCapabilities, useSetStatus } from '../writes';
import { hostOf } from './settings';
import { useOrdering } from './useOrdering';
import { useReorder } from './useReorder';

const Confirm = lazy(() => import('../../ui/form/Confirm'));

/** All capabilities with their upstreams; the filters stand in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('list.title'));
  const [filter, setFilter, setPage] = useFilter();
  const query = useQuery(officeQueries.capabilities(filter));
  const bare = filter.groupId === '' && filter.status === '' && filter.q === '';
  return (
    <>
      <div className="page-head">
        <h1>{t('list.title')}</h1>
        <Link
          className="quiet primary-link"
          to={filter.groupId === '' ? '/admin/capabilities/new' : `/admin/capabilities/new?groupId=${encodeURIComponent(filter.groupId)}`}
        >
          <Icon name="plus" />
          {t('list.add')}
        </Link>
      </div>
      <section className="block" aria-label={t('list.title')}>
        <Filters filter={filter} onFilter={setFilter} />
        <PagedBlock
          query={query}
          height={360}
          bones={<TableBones className="capabilities-table" head={<Columns ordering={false} />} rows={8} columns={6} />}
          page={query.data?.page ?? filter.page}
          size={(orderable(filter) && query.data?.total) || LIST_SIZE}
          onPage={setPage}
          csv={{ name: 'capabilities', rows: wholeOf(lists.capabilities, { groupId: filter.groupId, status: filter.status, q: filter.q }) }}
          empty={
            bare ? (
              <Empty text={t('list.empty')} />
            ) : (
              <Empty text={t('list.none')}>
                <button type="button" className="quiet" data-edge onClick={() => setFilter({ groupId: '', status: '', q: '' })}>
                  {t('list.clear')}
                </button>
              </Empty>
            )
          }
        >
          {({ items }) => (
            <Table key={filter.groupId} items={items} filter={filter} ordering={orderable(filter) && !query.isPlaceholderData} />
          )}
        </PagedBlock>
      </section>
    </>
  );
}

type Choice = Omit<Filter, 'page'>;

function useFilter(): [Filter, (change: Partial<Choice>) => void, (page: number) => void] {
  const [search, setSearch] = useSearch();
  const [page, setPage] = usePage();
  const status = search.get('status');
  const filter: Filter = {
    page,
    groupId: search.get('groupId') ?? '',
    status: status === 'enabled' || status === 'disabled' ? status : '',
    q: search.get('q') ?? '',
  };
  const setFilter = (change: Partial<Choice>) => setSearch({ page: null, ...change });
  return [filter, setFilter, setPage];
}

function Filters({ filter, onFilter }: { filter: Filter; onFilter: (change: Partial<Choice>) => void }) {
  const { t } = useTranslation(['admin', 'common']);
  const { data: groups } = useQuery(officeQueries.groups());
  const known = groups?.some(({ id }) => id === filter.groupId);
  return (
    <div className="filters" role="search">
      <UrlSearch label={t('list.search')} />
      <select
        className="select"
        aria-label={t('list.group')}
        value={filter.groupId}
        onChange={(event) => onFilter({ groupId: event.target.value })}
      >
        <option value="">{t('list.allGroups')}</option>
        {filter.groupId !== '' && !known && <option value={filter.groupId}>{filter.groupId}</option>}
        {groups?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="select"
        aria-label={t('list.status')}
        value={filter.status}
        onChange={(event) => onFilter({ status: event.target.value as Filter['status'] })}
      >
        <option value="">{t('list.allStatuses')}</option>
        <option value="enabled">{t('common:status.enabled')}</option>
        <option value="disabled">{t('common:status.disabled')}</option>
      </select>
    </div>
  );
}

function Columns({ ordering }: { ordering: boolean }) {
  const { t } = useTranslation(['admin', 'common']);
  return (
    <thead>
      <tr>
        {ordering && (
          <th scope="col" className="handle-cell">
            <span className="unseen">{t('list.order')}</span>
          </th>
        )}
        <th scope="col">{t('list.name')}</th>
        <th scope="col" className="wider group-cell">
          {t('list.group')}
        </th>
        <th scope="col" className="right wider order-cell">
          {t('list.order')}
        </th>
        <th scope="col" className="wide upstream-cell">
          {t('list.upstream')}
        </th>
        <th scope="col" className="right wide bound-cell">
          {t('list.bound')}
        </th>
        <th scope="col" className="right switch-cell">
          {t('list.status')}
        </th>
      </tr>
    </thead>
  );
}

function Table({ items, filter, ordering }: { items: Capability[]; filter: Filter; ordering: boolean }) {
  const { t } = useTranslation(['admin', 'common']);
  const format = useFormat();
  const failed = useTellFault();
  const { data: groups } = useQuery(officeQueries.groups());
  const groupName = ({ groupId }: Capability) => groups?.find(({ id }) => id === groupId)?.name ?? groupId;
  const { shown, store } = useOrderCapabilities(filter, items);
  const { order, question } = useOrdering(items, store);
  const { rows, handle, body, draggedId, live } = useReorder(shown, order);
  return (
    <>
      {live}
      {question}
      {!ordering && filter.groupId === '' && <p className="meta wide order-hint">{t('list.orderHint')}</p>}
      <table className="table capabilities-table">
        <Columns ordering={ordering} />
        <tbody ref={body}>
          {rows.map((item) => (
            <tr key={item.id} data-dragged={item.id === draggedId}>
              {ordering && <td className="handle-cell">{handle(item)}</td>}
              <td>
                <Link className="capability-name" to={`/admin/capabilities/${encodeURIComponent(item.id)}`} title={item.name}>
                  {item.name}
                </Link>
                <code className="meta capability-name" title={item.id}>
                  {item.id}
                </code>
              </td>
              <td className="wider cut" title={groupName(item)}>
                {groupName(item)}
              </td>
              <td className="right wider">{format.count(item.sortOrder)}</td>
              <td className="wide cut" title={upstreamOf(item)}>
                {upstreamOf(item)}
              </td>
              <td className="right wide">{format.count(item.boundApplicationCount)}</td>
              <td className="right switch-cell">
                <Switch item={item} onFailed={failed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The upstreams that it names, else the host of its own address. */
const upstreamOf = ({ upstreams, upstreamBaseUrl }: Capability): string =>
  upstreams.length > 0 ? upstreams.map(({ upstreamId }) => upstreamId).join(', ') : hostOf(upstreamBaseUrl);

/** Switching off asks, with how many applications it hits; switching on does not. */
function Switch({ item, onFailed }: { item: Capability; onFailed: (error: unknown) => void }) {
  const { t } = useTranslation(['admin', 'common']);
  const [asking, setAsking] = useState(false);
  const set = useSetStatus();
  const on = item.status === 'enabled';
  const [endRunning, setEndRunning] = useState(true);
  const turn = async (status: Capability['status']) => {
    await set.mutateAsync({ id: item.id, status, endRunning: status === 'disabled' && endRunning, updatedAt: item.updatedAt });
    notify('ok', t(`list.${status}`, { name: item.name }));
  };
  return (
    <>
      <button
        type="button"
        role="switch"
        className="switch"
        aria-checked={on}
        aria-label={t('list.switch', { name: item.name })}
        title={t(`common:status.${item.status}`)}
        onClick={() => (on ? setAsking(true) : void turn('enabled').catch(onFailed))}
      />
      {asking && (
        <Suspense fallback={null}>
          <Confirm
            danger
            title={t('list.disable', { name: item.name })}
            text={t('list.disableText', { n: String(item.boundApplicationCount) })}
            action={t('list.disableNow')}
            run={() => turn('disabled')}
            onClosed={() => setAsking(false)}
          >
            <label className="check">
              <input type="checkbox" checked={endRunning} onChange={(event) => setEndRunning(event.target.checked)} />
              {t('list.endRunning')}
            </label>
          </Confirm>
        </Suspense>
      )}
    </>
  );
}
