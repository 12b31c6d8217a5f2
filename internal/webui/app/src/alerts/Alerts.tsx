import '../ui/form/field.css';
import './alerts.css';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../format/useFormat';
import { Block, Empty } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { useTellFault } from '../ui/page/faultText';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { notify } from '../ui/page/notice';
import { Tag } from '../ui/Tag';
import { useAskedToCreate } from '../ui/table/useAskedToCreate';
import { useSearch } from '../ui/table/useSearch';
import { AlertForm } from './AlertForm';
import { Deliveries } from './Deliveries';
import { isSilenced } from './firing';
import { alertQueries, calls, useAlertWrite, type Alert, type Site } from './queries';
import { useQuantity } from './useQuantity';

const Confirm = lazy(() => import('../ui/form/Confirm'));

/** The alerts of a site, or those that watch one application, how each stands, and beneath the one that the URL names what was sent of it. */
export function Alerts({ site, applicationId }: { site: Site; applicationId?: string }) {
  const { t } = useTranslation('alerts');
  const Heading = applicationId === undefined ? 'h1' : 'h2';
  const query = useQuery(alertQueries.list(site));
  const [search, setSearch] = useSearch();
  const [form, setForm] = useState<{ of: Alert | null } | null>(null);
  const full = query.data !== undefined && query.data.items.length >= query.data.max;
  useAskedToCreate(() => setForm({ of: null }), query.data !== undefined && !full);
  return (
    <>
      <div className="page-head">
        <Heading>{t('title')}</Heading>
        {!form && (
          <Button kind={applicationId === undefined ? 'primary' : 'plain'} disabled={full} onClick={() => setForm({ of: null })}>
            <Icon name="plus" />
            {t('add')}
          </Button>
        )}
      </div>
      {form && (
        <AlertForm key={form.of?.id ?? ''} site={site} alert={form.of} applicationId={applicationId} onClose={() => setForm(null)} />
      )}
      <section className="block" aria-label={t('title')}>
        <p className="second alerts-about">{t(site === 'own' ? 'about' : 'aboutOffice')}</p>
        <Block query={query} height={200}>
          {({ items: all }) => {
            const items = applicationId === undefined ? all : all.filter(({ target }) => target.id === applicationId);
            return items.length === 0 ? (
              <Empty text={t('empty')} />
            ) : (
              <ul className="alerts">
                {items.map((alert) => (
                  <Row
                    key={alert.id}
                    site={site}
                    of={alert}
                    now={query.dataUpdatedAt}
                    open={alert.id === search.get('alert')}
                    onEdit={() => setForm({ of: alert })}
                    onLog={(open) => setSearch({ alert: open ? alert.id : null })}
                  />
                ))}
              </ul>
            );
          }}
        </Block>
      </section>
    </>
  );
}

function Row({
  site,
  of,
  now,
  open,
  onEdit,
  onLog,
}: {
  site: Site;
  of: Alert;
  now: number;
  /** Whether what was sent is told beneath. */
  open: boolean;
  onEdit: () => void;
  onLog: (open: boolean) => void;
}) {
  const { t } = useTranslation('alerts');
  const format = useFormat();
  const quantity = useQuantity();
  const { state } = of;
  const troubled = of.deliveries.failing + of.deliveries.givenUp;
  return (
    <li className="alert" data-firing={state.value === 'firing'}>
      <div className="alert-line">
        <strong className="alert-name">{of.name}</strong>
        <Standing of={of} now={now} />
        {troubled > 0 && <Tag kind="failed">{t('undelivered', { n: String(troubled) })}</Tag>}
      </div>
      <p className="alert-text">
        <Target site={site} of={of} />
        {t(`kinds.${of.kind}`)}{' '}
        {of.kind !== 'dayClosed' && t(of.kind === 'keyExpiry' ? 'atMost' : 'atLeast', { value: quantity(of, of.threshold) })}
        {of.windowMinutes !== null && (
          <>
            {t('and')}
            {t('within', { n: String(of.windowMinutes), calls: String(of.minCalls ?? 1) })}
          </>
        )}
        {of.period !== null && (
          <>
            {t('and')}
            {t(`periods.${of.period}`)}
          </>
        )}
      </p>
      <p className="meta alert-text">
        {of.kind === 'dayClosed' ? t('lastDay') : t('now')}{' '}
        <span className="number">
          {of.kind === 'dayClosed' ? (state.figures.day ?? '—') : state.measured === null ? '—' : quantity(of, state.measured)}
        </span>
        <Figures of={of} />
        {state.since !== null && (
          <>
            {' '}
            · <span title={format.exactTime(state.since)}>{t('since', { at: format.time(state.since) })}</span>
          </>
        )}
        {' · '}
        {of.channels.map(({ kind, destination }) => `${t(`channelKinds.${kind}`)} ${destination}`).join(t('and'))}
      </p>
      <div className="alert-actions">
        <button
          type="button"
          className="quiet"
          data-edge
          aria-expanded={open}
          onClick={() => onLog(!open)}
          aria-label={t('logOf', { name: of.name })}
        >
          {t('deliveries')}
        </button>
        <Actions site={site} of={of} now={now} onEdit={onEdit} />
      </div>
      {open && <Deliveries site={site} alert={of} onClose={() => onLog(false)} />}
    </li>
  );
}

/** How an alert stands, as icon, word and colour. */
function Standing({ of, now }: { of: Alert; now: number }) {
  const { t } = useTranslation('alerts');
  const format = useFormat();
  if (!of.enabled) return <Tag kind="off">{t('states.disabled')}</Tag>;
  return (
    <>
      {of.state.value === 'firing' ? (
        <Tag kind="failed">{t('states.firing')}</Tag>
      ) : (
        of.state.known && <Tag kind="ok">{t('states.ok')}</Tag>
      )}
      {of.state.unknownReason !== null && <Tag kind="warn">{t(`unknown.${of.state.unknownReason}`)}</Tag>}
      {isSilenced(of, now) && <Tag kind="off">{t('states.silenced', { at: format.time(of.silencedUntil ?? '') })}</Tag>}
    </>
  );
}

/** The figures that the measured value comes of. */
function Figures({ of }: { of: Alert }): ReactNode {
  const { t } = useTranslation('alerts');
  const format = useFormat();
  const { calls: n, failures, cost, amount, currency, used, limit, keyName, host, capabilityName, upstreamName } = of.state.figures;
  if (n !== null && failures !== null) return <> · {t('figures.calls', { calls: format.count(n), failures: format.count(failures) })}</>;
  if (cost !== null && amount !== null && currency !== null) return <> · {t('figures.spent', { cost, amount, currency })}</>;
  if (used !== null && limit !== null) return <> · {t('figures.used', { used: format.count(used), limit: format.count(limit) })}</>;
  if (keyName !== null) return <> · {keyName}</>;
  if (capabilityName !== null) return <> · {[capabilityName, upstreamName].filter((name) => name !== null).join(' · ')}</>;
  return host === null ? null : <> · {host}</>;
}

function Target({ site, of }: { site: Site; of: Alert }) {
  const { t } = useTranslation('alerts');
  const { type, id, name } = of.target;
  if (id === null)
    return (
      <>
        {t(type === 'account' ? 'targets.account' : 'targets.platform')}
        {t('colon')}
      </>
    );
  const to =
    site === 'own' ? `/applications/${id}` : type === 'capability' ? `/admin/capabilities/${encodeURIComponent(id)}` : '/admin/upstreams';
  return (
    <>
      <Link to={to}>{name}</Link>
      {t('colon')}
    </>
  );
}

const HOURS = [1, 8, 24, 168] as const;

const inHours = (n: number): string => new Date(Date.now() + n * 3_600_000).toISOString();

function Actions({ site, of, now, onEdit }: { site: Site; of: Alert; now: number; onEdit: () => void }) {
  const { t } = useTranslation('alerts');
  const tell = useTellFault();
  const [asking, setAsking] = useState(false);
  const test = useAlertWrite(() => calls[site].test(of.id));
  const edit = useAlertWrite((body: Parameters<(typeof calls)[Site]['edit']>[2]) => calls[site].edit(of.id, of.updatedAt, body));
  const remove = useAlertWrite(() => calls[site].remove(of.id));
  const set = (body: Parameters<typeof edit.mutate>[0]) => edit.mutate(body, { onError: tell });
  return (
    <>
      <button
        type="button"
        className="quiet"
        disabled={test.isPending}
        aria-label={t('testOf', { name: of.name })}
        onClick={() => test.mutate(undefined, { onSuccess: () => notify('ok', t('tested')), onError: tell })}
      >
        {t('test')}
      </button>
      <button type="button" className="quiet" aria-label={t('editOf', { name: of.name })} onClick={onEdit}>
        {t('edit')}
      </button>
      <Menu
        label={t('moreOf', { name: of.name })}
        button={<Icon name="more" />}
        groups={[
          isSilenced(of, now)
            ? [{ key: 'unsilence', label: t('unsilence'), onSelect: () => set({ silencedUntil: null }) }]
            : HOURS.map((n) => ({
                key: String(n),
                label: t('silence', { n: String(n) }),
                onSelect: () => set({ silencedUntil: inHours(n) }),
              })),
          [
            { key: 'enabled', label: t(of.enabled ? 'disable' : 'enable'), onSelect: () => set({ enabled: !of.enabled }) },
            { key: 'delete', label: t('delete'), onSelect: () => setAsking(true) },
          ],
        ]}
      />
      {asking && (
        <Suspense fallback={null}>
          <Confirm
            danger
            title={t('ask', { name: of.name })}
            text={t('askText')}
            action={t('delete')}
            run={async () => {
              await remove.mutateAsync(undefined);
              notify('ok', t('deleted', { name: of.name }));
            }}
            onClosed={() => setAsking(false)}
          />
        </Suspense>
      )}
    </>
  );
}
