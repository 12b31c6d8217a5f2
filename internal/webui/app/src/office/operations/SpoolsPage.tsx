import '../../ui/form/field.css';
import '../office.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../format/useFormat';
import { AskButton } from '../../ui/AskButton';
import { Empty, TableBones } from '../../ui/page/Block';
import { notify } from '../../ui/page/notice';
import { Cell } from '../../ui/table/Records';
import { PagedBlock } from '../../ui/table/PagedBlock';
import { Tag } from '../../ui/Tag';
import { usePage } from '../../ui/table/usePage';
import { useTitle } from '../../ui/page/useTitle';
import { Days } from '../money/Days';
import { officeQueries, SPOOLS_SIZE, type Spool, lists, wholeOf } from '../queries';
import { useRetire } from '../writes';

const columns = ['gateway', 'state', 'through', 'seen', 'held'] as const;
const kinds = { live: 'ok', adopted: 'ok', silent: 'warn', retired: 'off' } as const;

/** Where gateways keep calls until they are in the statistics; a lost one is given up here. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('spools.title'));
  const [page, setPage] = usePage();
  const query = useQuery(officeQueries.spools(page));
  return (
    <>
      <div className="page-head">
        <h1>{t('spools.title')}</h1>
      </div>
      <section className="block" aria-label={t('spools.title')}>
        <p className="second spools-about">{t('spools.about')}</p>
        <PagedBlock
          query={query}
          height={240}
          bones={<TableBones roomy className="records spools" head={<Columns />} rows={4} columns={6} />}
          page={page}
          size={SPOOLS_SIZE}
          onPage={setPage}
          csv={{ name: 'ingestion', rows: wholeOf(lists.spools, {}) }}
          empty={<Empty text={t('spools.empty')} />}
        >
          {({ items }) => <Table items={items} />}
        </PagedBlock>
      </section>
      <Days />
    </>
  );
}

function Columns() {
  const { t } = useTranslation('admin');
  return (
    <thead>
      <tr>
        {columns.map((key) => (
          <th key={key} scope="col">
            {t(`spools.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('spools.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Table({ items }: { items: Spool[] }) {
  return (
    <table className="table records spools">
      <Columns />
      <tbody>
        {items.map((spool) => (
          <Row key={spool.id} spool={spool} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ spool }: { spool: Spool }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const version = spool.version === null ? '' : t('spools.version', { version: spool.version });
  const seen = spool.lastSeenAt ?? spool.reportedAt;
  return (
    <tr>
      <td>
        <strong className="spool-host" title={spool.host}>
          {spool.host || '—'}
        </strong>
        <code className="meta spool-id" title={spool.id}>
          {spool.id}
        </code>
        {version && <span className="meta">{version}</span>}
      </td>
      <Cell label={t('spools.state')}>
        <Tag kind={kinds[spool.state]}>{t(`spools.states.${spool.state}`)}</Tag>
      </Cell>
      <Cell label={t('spools.through')}>
        <span className="number" title={format.exactTime(spool.through)}>
          {format.time(spool.through)}
        </span>
      </Cell>
      <Cell label={t('spools.seen')}>
        <span className="number" title={format.exactTime(seen)}>
          {format.time(seen)}
        </span>
      </Cell>
      <Cell label={t('spools.held')}>
        <Held spool={spool} />
      </Cell>
      <td className="right">{spool.state === 'silent' && <Retire spool={spool} />}</td>
    </tr>
  );
}

function Held({ spool }: { spool: Spool }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  if (spool.state === 'retired') {
    const by = t('spools.retiredBy', { by: spool.retiredBy ?? '—', at: spool.retiredAt === null ? '—' : format.time(spool.retiredAt) });
    return (
      <>
        {spool.missedCalls === null ? t('spools.unknown') : t('spools.missed', { n: format.count(spool.missedCalls) })}
        <span className="meta record-line">{by}</span>
      </>
    );
  }
  const calls = spool.heldCalls === null ? t('spools.unknown') : t('spools.calls', { n: format.count(spool.heldCalls) });
  return (
    <>
      {calls}
      {spool.heldBytes !== null && spool.heldBytes > 0 && (
        <span className="meta bytes"> · {t('spools.bytes', { n: format.count(Math.ceil(spool.heldBytes / 1024)) })}</span>
      )}
    </>
  );
}

function Retire({ spool }: { spool: Spool }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const { mutateAsync } = useRetire();
  const name = spool.host || spool.id;
  const lost = spool.heldCalls === null ? t('spools.retireUnknown') : t('spools.retireKnown', { n: format.count(spool.heldCalls) });
  const run = async () => {
    await mutateAsync(spool.id);
    notify('ok', t('spools.done', { name }));
  };
  return (
    <AskButton
      of={t('spools.retireOf', { name })}
      title={t('spools.ask', { name })}
      text={`${t('spools.askText')} ${lost}`}
      action={t('spools.retire')}
      typed={name}
      run={run}
    />
  );
}
