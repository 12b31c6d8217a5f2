import '../../ui/form/field.css';
import '../office.css';
import '../money/prices.css';
import './upstreams.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import type { Schemas } from '../../api/client';
import { useFormat } from '../../format/useFormat';
import { AskButton } from '../../ui/AskButton';
import { Block, Empty, TableBones } from '../../ui/page/Block';
import { Button } from '../../ui/Button';
import { useTellFault } from '../../ui/page/faultText';
import { Icon } from '../../ui/Icon';
import { notify } from '../../ui/page/notice';
import { Cell } from '../../ui/table/Records';
import { Tag } from '../../ui/Tag';
import { useAnchor } from '../../ui/page/useScroll';
import { useAskedToCreate } from '../../ui/table/useAskedToCreate';
import { CsvFoot } from '../../ui/table/CsvButton';
import { useTitle } from '../../ui/page/useTitle';
import { Result } from './Check';
import { causeOf } from './cause';
import { Health } from '../operations/Health';
import { upstreamQueries, type NamedUpstream } from '../queries';
import { useCheckUpstream, useDeleteUpstream, useRestoreKey } from '../writes';
import { hostOf } from './settings';
import { UpstreamForm } from './UpstreamForm';

const columns = ['name', 'address', 'capabilities', 'hour', 'gateways'] as const;
const states = { closed: 'ok', open: 'failed', probing: 'warn' } as const;

/** Addresses and keys that capabilities share: a key is rotated here once for all of them. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('upstreams.title'));
  useAnchor(useLocation().hash.slice(1));
  const query = useQuery(upstreamQueries.upstreams());
  const figures = useQuery(upstreamQueries.figures());
  const [form, setForm] = useState<{ upstream: NamedUpstream | null } | null>(null);
  useAskedToCreate(() => setForm({ upstream: null }));
  const used = new Map(figures.data?.items.map((one) => [one.upstreamId, one]));
  return (
    <>
      <div className="page-head">
        <h1>{t('upstreams.title')}</h1>
        {!form && (
          <Button kind="primary" onClick={() => setForm({ upstream: null })}>
            <Icon name="plus" />
            {t('upstreams.add')}
          </Button>
        )}
      </div>
      {form && <UpstreamForm key={form.upstream?.id ?? ''} upstream={form.upstream} onClose={() => setForm(null)} />}
      <section className="block" aria-label={t('upstreams.title')}>
        <p className="second prices-about">{t('upstreams.about')}</p>
        <Block
          query={query}
          height={240}
          bones={<TableBones roomy className="records late upstreams" head={<Columns />} rows={3} columns={6} />}
        >
          {(all) =>
            all.length === 0 ? (
              <Empty text={t('upstreams.empty')} />
            ) : (
              <>
                <table className="table records late upstreams">
                  <Columns />
                  <tbody>
                    {all.map((one) => (
                      <Row
                        key={one.id}
                        upstream={one}
                        used={figures.data ? (used.get(one.id) ?? null) : undefined}
                        onEdit={() => setForm({ upstream: one })}
                      />
                    ))}
                  </tbody>
                </table>
                <CsvFoot name="upstreams" rows={all} />
              </>
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
          <th key={key} scope="col">
            {t(`upstreams.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('upstreams.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Row({
  upstream,
  used,
  onEdit,
}: {
  upstream: NamedUpstream;
  used: Schemas['UpstreamUsage'] | null | undefined;
  onEdit: () => void;
}) {
  const { t } = useTranslation(['admin', 'common']);
  const { name } = upstream;
  const failed = useTellFault();
  const check = useCheckUpstream();
  return (
    <>
      <tr id={`upstream-${upstream.id}`}>
        <td>
          <strong className="record-line">{name}</strong>
          <code className="meta record-line">{upstream.id}</code>
        </td>
        <Cell label={t('upstreams.address')}>
          <span title={upstream.baseUrl}>{hostOf(upstream.baseUrl)}</span>
          <span className="meta record-line">{t(`editor.auths.${upstream.auth}`)}</span>
        </Cell>
        <Cell label={t('upstreams.capabilities')}>
          <Capabilities ids={upstream.capabilityIds} />
        </Cell>
        <Cell label={t('upstreams.hour')}>
          <Hour used={used} />
        </Cell>
        <Cell label={t('upstreams.gateways')}>
          <Health of={upstream.health} />
          {upstream.gateways.map((one, n) => (
            <Gateway key={n} report={one} />
          ))}
        </Cell>
        <td>
          <div className="record-actions">
            <button type="button" className="quiet" data-edge onClick={onEdit} aria-label={t('upstreams.editOf', { name })}>
              {t('upstreams.edit')}
            </button>
            <button
              type="button"
              className="quiet"
              data-edge
              disabled={check.isPending}
              onClick={() => check.mutate(upstream.id, { onError: failed })}
              aria-label={t('upstreams.checkOf', { name })}
            >
              {check.isPending ? t('editor.checking') : t('upstreams.check')}
            </button>
            {upstream.formerKeyUntil !== null && <Restore upstream={upstream} until={upstream.formerKeyUntil} />}
            {upstream.capabilityIds.length === 0 && <Delete upstream={upstream} />}
          </div>
        </td>
      </tr>
      {check.data && !check.isPending && (
        <tr>
          <td colSpan={6} role="status">
            <Result result={check.data} />
          </td>
        </tr>
      )}
    </>
  );
}

function Capabilities({ ids }: { ids: readonly string[] }) {
  const { t } = useTranslation('admin');
  const [open, setOpen] = useState(false);
  if (ids.length === 0) return <span className="meta">{t('upstreams.unused')}</span>;
  const few = 3;
  const links = (some: readonly string[]) =>
    some.map((id, n) => (
      <span key={id}>
        {n > 0 && ', '}
        <Link to={`/admin/capabilities/${encodeURIComponent(id)}`}>{id}</Link>
      </span>
    ));
  if (ids.length <= few) return <>{links(ids)}</>;
  return (
    <>
      <button type="button" className="quiet" data-edge aria-expanded={open} onClick={() => setOpen(!open)}>
        {t('upstreams.uses', { n: String(ids.length) })}
      </button>
      {open && <span className="record-line">{links(ids)}</span>}
    </>
  );
}

/** What went there in the last hour; undefined while it is not known. */
function Hour({ used }: { used: Schemas['UpstreamUsage'] | null | undefined }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  if (used === undefined) return <>—</>;
  if (used === null) return <span className="meta">{t('upstreams.noCalls')}</span>;
  return (
    <>
      <span className="number">{t('upstreams.calls', { n: format.count(used.calls) })}</span>
      <span className="meta record-line">
        {t('upstreams.figures', { failures: format.count(used.failures), p95: format.duration(used.p95Ms) })}
      </span>
    </>
  );
}

function Gateway({ report }: { report: Schemas['UpstreamReport'] }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const told = report.error === null ? null : causeOf(report.error);
  const error = told === null ? report.error : t(`upstreams.causes.${told.cause}`, { status: told.status });
  return (
    <span className="upstream-gateway">
      <Tag kind={states[report.state]}>{t(`upstreams.states.${report.state}`)}</Tag> <span>{report.host}</span>
      {error !== null && report.errorAt !== null && (
        <span className="meta record-line">{t('upstreams.error', { error, at: format.time(report.errorAt) })}</span>
      )}
    </span>
  );
}

function Restore({ upstream, until }: { upstream: NamedUpstream; until: string }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const { mutateAsync } = useRestoreKey();
  const { name } = upstream;
  const run = async () => {
    await mutateAsync(upstream.id);
    notify('ok', t('upstreams.restored', { name }));
  };
  return (
    <AskButton
      of={t('upstreams.restoreOf', { name })}
      title={t('upstreams.restoreAsk', { name })}
      text={t('upstreams.restoreText', { n: String(upstream.capabilityIds.length), until: format.time(until) })}
      action={t('upstreams.restore')}
      run={run}
    />
  );
}

function Delete({ upstream }: { upstream: NamedUpstream }) {
  const { t } = useTranslation('admin');
  const { mutateAsync } = useDeleteUpstream();
  const { name } = upstream;
  const run = async () => {
    await mutateAsync(upstream.id);
    notify('ok', t('upstreams.deleted', { name }));
  };
  return (
    <AskButton
      of={t('upstreams.deleteOf', { name })}
      title={t('upstreams.deleteAsk', { name })}
      text={t('upstreams.deleteText')}
      action={t('upstreams.delete')}
      run={run}
    />
  );
}
