import './applications.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import type { Dated, Schemas } from '../api/client';
import { BudgetLine } from '../budgets/BudgetLine';
import { pressing } from '../budgets/budgets';
import { budgetQueries } from '../budgets/queries';
import { useFormat } from '../format/useFormat';
import { Completeness } from '../overview/Tiles';
import { unrecorded } from '../range/coverage';
import { carried } from '../range/range';
import { RangeBar } from '../range/RangeBar';
import { useRange } from '../range/useRange';
import { Block, Empty, TableBones } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Icon } from '../ui/Icon';
import { CsvFoot } from '../ui/table/CsvButton';
import { PastTheEnd } from '../ui/table/PagedBlock';
import { Pages } from '../ui/table/Pages';
import { SortHead } from '../ui/table/SortHead';
import { StatusTag, Tag } from '../ui/Tag';
import { useKeys } from '../ui/keys/useKeys';
import { useAskedToCreate } from '../ui/table/useAskedToCreate';
import { usePage } from '../ui/table/usePage';
import { useTitle } from '../ui/page/useTitle';
import { ApplicationMenu } from './ApplicationMenu';
import { Filters, narrowed, useWanted } from './Filters';
import { levelOf } from './level';
import { applicationQueries } from './queries';
import { useDialogs, type Dialogs } from './useDialogs';

const SIZE = 10;

/** The own applications with their figures. */
export function Component() {
  const { t } = useTranslation(['applications', 'common']);
  useTitle(t('title'));
  const state = useRange();
  const [page, setPage] = usePage();
  const [wanted, setWanted] = useWanted();
  const query = useQuery(applicationQueries.list(state.range, wanted, page, state.holdsToday));
  const none = query.data?.total === 0 && !narrowed(wanted);
  const dialogs = useDialogs(() => {
    if (page > 1 && query.data?.items.length === 1) setPage(page - 1);
  });
  useAskedToCreate(dialogs.create);
  useKeys({ n: dialogs.create });
  return (
    <>
      <div className="page-head">
        <h1>{t('title')}</h1>
        <RangeBar state={state} />
        <Button kind={query.data?.total === 0 ? 'plain' : 'primary'} aria-keyshortcuts="N" onClick={dialogs.create}>
          <Icon name="plus" />
          {t('new')}
        </Button>
      </div>
      <section className="block" aria-label={t('title')}>
        {!none && <Filters wanted={wanted} onChange={setWanted} />}
        <Block query={query} height={520} bones={<ListBones />}>
          {(data) =>
            data.total === 0 && narrowed(wanted) ? (
              <Empty text={t('find.none')}>
                <button type="button" className="quiet" data-edge onClick={() => setWanted({ q: '', status: '' })}>
                  {t('find.clear')}
                </button>
              </Empty>
            ) : (
              <List data={data} page={page} onPage={setPage} byLastCall={wanted.sort === 'lastCall'} dialogs={dialogs} />
            )
          }
        </Block>
      </section>
      {dialogs.open}
    </>
  );
}

function List({
  data,
  page,
  onPage,
  byLastCall,
  dialogs,
}: {
  data: Dated<Schemas['ApplicationUsagePage']>;
  page: number;
  onPage: (page: number) => void;
  byLastCall: boolean;
  dialogs: Dialogs;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const client = useQueryClient();
  const [wanted] = useWanted();
  const { range } = useRange();
  if (data.total === 0)
    return (
      <Empty text={t('empty.list')}>
        <Button kind="primary" onClick={dialogs.create}>
          {t('new')}
        </Button>
      </Empty>
    );
  if (data.items.length === 0) return <PastTheEnd page={page} last={Math.max(1, Math.ceil(data.total / SIZE))} onPage={onPage} />;
  const items = unrecorded(data) ? data.items.map((usage) => ({ ...usage, calls: null, failures: null })) : data.items;
  return (
    <>
      <Table items={items} byLastCall={byLastCall} dialogs={dialogs} />
      <Cards items={items} byLastCall={byLastCall} dialogs={dialogs} />
      <div className="list-foot meta">
        <span>{data.total === 1 ? t('totalOne') : t('total', { n: format.count(data.total) })}</span>
        <Completeness coverage={data} />
      </div>
      <Pages page={page} total={data.total} size={SIZE} onPage={onPage} />
      <CsvFoot name="applications" period={range} rows={(n) => client.fetchQuery(applicationQueries.list(range, wanted, n, true))} />
    </>
  );
}

/** Without records of the range there are no counts. */
type Usage = Omit<Schemas['ApplicationUsage'], 'calls' | 'failures'> & { calls: number | null; failures: number | null };

/** The server orders: names from A, figures from the greatest. */
function Columns({ byLastCall = false }: { byLastCall?: boolean }) {
  const { t } = useTranslation(['applications', 'common']);
  const [{ sort }, setWanted] = useWanted();
  const head = (by: 'name' | 'calls' | 'failures') => ({
    sorted: sort === by ? (by === 'name' ? ('ascending' as const) : ('descending' as const)) : undefined,
    onSort: () => setWanted({ sort: by }),
  });
  return (
    <thead>
      <tr>
        <SortHead {...head('name')}>{t('name')}</SortHead>
        <th scope="col" className="wider" aria-sort={byLastCall ? 'descending' : undefined}>
          {t(byLastCall ? 'lastCall' : 'key')}
        </th>
        {(['calls', 'successRate', 'failures', 'avg'] as const).map((key) =>
          key === 'calls' || key === 'failures' ? (
            <SortHead key={key} className="right" {...head(key)}>
              {t(`common:metrics.${key}`)}
            </SortHead>
          ) : (
            <th key={key} scope="col" className="right">
              {t(`common:metrics.${key}`)}
            </th>
          ),
        )}
        <th scope="col">
          <span className="unseen">{t('log')}</span>
        </th>
      </tr>
    </thead>
  );
}

/** A page of the list before it is read. */
const ListBones = () => (
  <>
    <TableBones roomy className="applications-table" head={<Columns />} rows={SIZE} columns={7} />
    <div className="list-foot meta">
      <div className="bone line" />
    </div>
    <div className="csv-foot" />
  </>
);

function Table({ items, byLastCall, dialogs }: { items: readonly Usage[]; byLastCall: boolean; dialogs: Dialogs }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  return (
    <table className="table roomy applications-table">
      <caption className="unseen">{t('title')}</caption>
      <Columns byLastCall={byLastCall} />
      <tbody>
        {items.map((usage) => (
          <tr key={usage.id}>
            <td className="application-name">
              <div>
                <Name usage={usage} />
                <Standing usage={usage} />
              </div>
              <Spent usage={usage} />
            </td>
            {byLastCall ? (
              <td className="second number wider">
                <LastCall usage={usage} />
              </td>
            ) : (
              <td className="mono second wider">{usage.maskedAccessKey}</td>
            )}
            <td className="right">{format.count(usage.calls)}</td>
            <td className="right">
              <Rate usage={usage} />
            </td>
            <td className="right">{format.count(usage.failures)}</td>
            <td className="right">{format.duration(usage.avgDurationMs)}</td>
            <td>
              <Actions usage={usage} dialogs={dialogs} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cards({ items, byLastCall, dialogs }: { items: readonly Usage[]; byLastCall: boolean; dialogs: Dialogs }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  return (
    <ul className="cards close" aria-label={t('title')}>
      {items.map((usage) => (
        <li key={usage.id}>
          <div className="card-head">
            <Name usage={usage} />
            <Standing usage={usage} />
          </div>
          {byLastCall ? (
            <p className="meta number">
              {t('lastCall')} <LastCall usage={usage} />
            </p>
          ) : (
            <p className="meta mono">{usage.maskedAccessKey}</p>
          )}
          <Spent usage={usage} />
          <dl>
            <div>
              <dt className="meta">{t('common:metrics.calls')}</dt>
              <dd>{format.count(usage.calls)}</dd>
            </div>
            <div>
              <dt className="meta">{t('common:metrics.successRate')}</dt>
              <dd>
                <Rate usage={usage} />
              </dd>
            </div>
            <div>
              <dt className="meta">{t('common:metrics.failures')}</dt>
              <dd>{format.count(usage.failures)}</dd>
            </div>
            <div>
              <dt className="meta">{t('common:metrics.avg')}</dt>
              <dd>{format.duration(usage.avgDurationMs)}</dd>
            </div>
          </dl>
          <Actions usage={usage} dialogs={dialogs} />
        </li>
      ))}
    </ul>
  );
}

/** What is not as it should be: nothing is said of an active application whose calls succeed. */
function Standing({ usage }: { usage: Usage }) {
  const { t } = useTranslation('applications');
  const level = levelOf(usage);
  return (
    <>
      {usage.disabledByAdministrator ? (
        <span title={usage.disabledByAdministrator.reason}>
          <Tag kind="off">{t('heldTag')}</Tag>
        </span>
      ) : (
        usage.status === 'disabled' && <StatusTag status="disabled" />
      )}
      {level && <Tag kind={level}>{t(`level.${level}`)}</Tag>}
    </>
  );
}

/** What is spent of its budget that presses most. */
function Spent({ usage }: { usage: Usage }) {
  const { data } = useQuery(budgetQueries.own());
  const budget = pressing(data ?? [], usage.id);
  return (
    budget && (
      <p className="meta">
        <BudgetLine of={budget} />
      </p>
    )
  );
}

/** To the minute; null: never called. */
function LastCall({ usage }: { usage: Usage }) {
  const format = useFormat();
  return usage.lastCallAt === null ? (
    '—'
  ) : (
    <span title={format.exactTime(usage.lastCallAt)}>{format.time(usage.lastCallAt).slice(0, -3)}</span>
  );
}

function Rate({ usage }: { usage: Usage }) {
  const format = useFormat();
  const level = levelOf(usage);
  return (
    <span className="rate" data-level={level ?? undefined}>
      {level && <Icon name={level} size={12} />}
      {format.rate(usage.successes, usage.calls ?? 0)}
    </span>
  );
}

function Name({ usage }: { usage: Usage }) {
  const { search } = useLocation();
  const ranged = carried(new URLSearchParams(search));
  return (
    <Link className="cut" to={`/applications/${usage.id}${ranged}`} title={usage.name}>
      {usage.name}
    </Link>
  );
}

function Actions({ usage, dialogs }: { usage: Usage; dialogs: Dialogs }) {
  const { t } = useTranslation(['applications', 'common']);
  return (
    <div className="row-actions">
      <button type="button" className="quiet" aria-label={t('logOf', { name: usage.name })} onClick={() => dialogs.log(usage)}>
        {t('log')}
      </button>
      <ApplicationMenu on={usage} dialogs={dialogs} held={usage.disabledByAdministrator} />
    </div>
  );
}
