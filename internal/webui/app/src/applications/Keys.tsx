import '../ui/form/field.css';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { AskButton } from '../ui/AskButton';
import type { Schemas } from '../api/client';
import { BudgetLine } from '../budgets/BudgetLine';
import type { Budget } from '../budgets/budgets';
import { budgetQueries } from '../budgets/queries';
import { level } from '../limits/limits';
import { Block, TableBones } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Copy } from '../ui/Copy';
import { useTellFault } from '../ui/page/faultText';
import { notify } from '../ui/page/notice';
import { CsvFoot } from '../ui/table/CsvButton';
import { Cell } from '../ui/table/Records';
import { Tag } from '../ui/Tag';
import { KeyForm } from './KeyForm';
import { ending, MOST_KEYS, type Key } from './keys';
import { applicationQueries } from './queries';
import { useSecret } from './useSecret';
import { useWrites } from './writes';

const KeyBudgets = lazy(() => import('../budgets/KeyBudgets'));

const columns = ['name', 'mask', 'expires', 'addresses', 'lastUsed'] as const;

/** The keys of an application: what each may be used for, when it was last, and what can be done with it. */
export function Keys({ applicationId, ceilings }: { applicationId: string; ceilings: Schemas['Limits'] }) {
  const { t } = useTranslation(['applications', 'common']);
  const query = useQuery(applicationQueries.keys(applicationId));
  const budgets = useQuery(budgetQueries.of(applicationId));
  const [form, setForm] = useState<{ of: Key | null } | null>(null);
  const [spending, setSpending] = useState<Key | null>(null);
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const there = query.data !== undefined;
  const count = query.data?.items.length;
  return (
    <section id="keys" className="block keys-block" aria-label={t('keys.title')}>
      <div className="block-head">
        <h2>{t('keys.title')}</h2>
        {count !== undefined && <span className="meta number">{t('keys.used', { n: String(count), most: String(MOST_KEYS) })}</span>}
        <span className="grow" />
        {!form && !spending && (
          <Button disabled={!there} onClick={() => setForm({ of: null })}>
            {t('keys.add')}
          </Button>
        )}
      </div>
      <p className="second">{t(count === MOST_KEYS ? 'keys.full' : 'keys.about', { most: String(MOST_KEYS) })}</p>
      {form && (
        <KeyForm
          key={form.of?.id ?? ''}
          applicationId={applicationId}
          ceilings={ceilings}
          from={form.of}
          onMade={(id, secret) => setMade({ id, secret })}
          onClose={() => setForm(null)}
        />
      )}
      {spending && (
        <Suspense fallback={null}>
          <KeyBudgets key={spending.id} applicationId={applicationId} of={spending} onClose={() => setSpending(null)} />
        </Suspense>
      )}
      <Block query={query} height={88} bones={<TableBones roomy className="records keys" head={<Columns />} rows={1} columns={6} />}>
        {({ items, lastUseKnown }) => (
          <table className="table records keys" aria-label={t('keys.rowsOf')}>
            <Columns />
            <tbody>
              {items.map((key) => (
                <Row
                  key={key.id}
                  applicationId={applicationId}
                  of={key}
                  lastUseKnown={lastUseKnown}
                  now={query.dataUpdatedAt}
                  first={made?.id === key.id ? made.secret : null}
                  budgets={(budgets.data?.items ?? []).filter((one) => one.keyId === key.id)}
                  onTaken={() => setMade(null)}
                  onEdit={() => {
                    setSpending(null);
                    setForm({ of: key });
                  }}
                  onBudgets={() => {
                    setForm(null);
                    setSpending(key);
                  }}
                />
              ))}
            </tbody>
          </table>
        )}
      </Block>
      {query.data && <CsvFoot name="keys" rows={query.data.items} />}
    </section>
  );
}

function Columns() {
  const { t } = useTranslation('applications');
  return (
    <thead>
      <tr>
        {columns.map((key) => (
          <th key={key} scope="col">
            {key === 'name' ? t('name') : t(`keys.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('keys.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Row({
  applicationId,
  of,
  lastUseKnown,
  now,
  first,
  budgets,
  onTaken,
  onEdit,
  onBudgets,
}: {
  applicationId: string;
  of: Key;
  lastUseKnown: boolean;
  now: number;
  first: string | null;
  budgets: readonly Budget[];
  onTaken: () => void;
  onEdit: () => void;
  onBudgets: () => void;
}) {
  const { t } = useTranslation(['applications', 'budgets']);
  const format = useFormat();
  const [secret, setSecret] = useSecret(first);
  useEffect(() => {
    // from here on it is this row's alone, which hides it
    if (first !== null) onTaken();
  });
  const { id, name, maskedAccessKey, createdAt } = of;
  return (
    <tr>
      <td>
        <span className="key-name">{name}</span> {of.first && <Tag kind="ok">{t('keys.first')}</Tag>}
        {of.replacedAt !== null && (
          <span title={format.exactTime(of.replacedAt)}>
            <Tag kind="off">{t('keys.replaced')}</Tag>
          </span>
        )}
        <Limits of={of.limitsUsage} />
        {budgets.map((budget) => (
          <span key={budget.id} className="meta record-line">
            <BudgetLine of={budget} bare />
          </span>
        ))}
      </td>
      <Cell label={t('keys.mask')}>
        <code className="key-text" data-shown={secret !== null} aria-live="polite">
          {secret ?? maskedAccessKey}
        </code>
        <span className="meta record-line" title={format.exactTime(createdAt)}>
          {t('keys.created')} <span className="number">{format.time(createdAt)}</span>
        </span>
        {secret !== null && <span className="meta record-line">{t('secret.soon')}</span>}
      </Cell>
      <Cell label={t('keys.expires')}>
        <Expiry of={of} now={now} />
      </Cell>
      <Cell label={t('keys.addresses')}>
        <Addresses of={of.allowedCidrs} />
      </Cell>
      <Cell label={t('keys.lastUsed')}>
        {of.lastUsedAt !== null ? (
          <span className="number" title={format.exactTime(of.lastUsedAt)}>
            {format.time(of.lastUsedAt)}
          </span>
        ) : lastUseKnown ? (
          t('keys.unused')
        ) : (
          <span title={t('keys.unknown')}>
            — <span className="unseen">{t('keys.unknown')}</span>
          </span>
        )}
      </Cell>
      <td>
        <div className="record-actions">
          {!of.first && <Secret applicationId={applicationId} of={of} secret={secret} setSecret={setSecret} />}
          <button type="button" className="quiet" onClick={onEdit} aria-label={t('keys.editOf', { name })}>
            {t('edit')}
          </button>
          <button type="button" className="quiet" onClick={onBudgets} aria-label={t('budgets:keyBudgetsOf', { name })}>
            {t('budgets:keyBudgets')}
          </button>
          {!of.first && <Delete applicationId={applicationId} id={id} name={name} />}
        </div>
      </td>
    </tr>
  );
}

/** What the key may use by itself, and has. */
function Limits({ of }: { of: Key['limitsUsage'] }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  return of.map(({ name, limit, used, resetsAt }) => (
    <span
      key={name}
      className="meta record-line"
      title={
        used === null
          ? t('limits.unknown')
          : resetsAt === null
            ? undefined
            : t('limits.resets', { time: format.time(resetsAt).slice(0, 16) })
      }
    >
      {t(`common:limits.${name}`)}{' '}
      <span className="number">{t('limits.used', { used: format.count(used), limit: format.count(limit) })}</span>{' '}
      {level({ used, limit })?.state === 'reached' && <Tag kind="failed">{t('limits.reached')}</Tag>}
    </span>
  ));
}

function Expiry({ of, now }: { of: Key; now: number }) {
  const { t } = useTranslation('applications');
  const format = useFormat();
  const state = ending(of, now);
  if (of.expiresAt === null) return <>{t('keys.never')}</>;
  return (
    <>
      <span className="number" title={format.exactTime(of.expiresAt)}>
        {format.time(of.expiresAt)}
      </span>
      {state === 'expired' && (
        <>
          <Tag kind="off">{t('keys.expired')}</Tag>
        </>
      )}
      {state === 'soon' && (
        <>
          <Tag kind="warn">{t('keys.soon')}</Tag>
        </>
      )}
    </>
  );
}

const SHOWN = 3;

function Addresses({ of }: { of: readonly string[] }) {
  const { t } = useTranslation('applications');
  if (of.length === 0) return <>{t('keys.anywhere')}</>;
  return (
    <span title={of.join('\n')}>
      {of.slice(0, SHOWN).map((network) => (
        <code key={network} className="key-network">
          {network}
        </code>
      ))}
      {of.length > SHOWN && <span className="meta">{t('keys.more', { n: String(of.length - SHOWN) })}</span>}
    </span>
  );
}

function Secret({
  applicationId,
  of,
  secret,
  setSecret,
}: {
  applicationId: string;
  of: Key;
  secret: string | null;
  setSecret: (secret: string | null) => void;
}) {
  const { t } = useTranslation('applications');
  const tell = useTellFault();
  const writes = useWrites();
  const [busy, setBusy] = useState(false);
  const show = async () => {
    setBusy(true);
    try {
      setSecret(await writes.revealKey(applicationId, of.id));
    } catch (error) {
      tell(error);
    }
    setBusy(false);
  };
  return (
    <>
      <button
        type="button"
        className="quiet"
        disabled={busy}
        onClick={() => (secret === null ? void show() : setSecret(null))}
        aria-label={t(secret === null ? 'keys.showOf' : 'keys.hideOf', { name: of.name })}
      >
        {t(secret === null ? 'secret.show' : 'secret.hide')}
      </button>
      <Copy bare text={() => secret ?? writes.revealKey(applicationId, of.id)} label={t('keys.copyOf', { name: of.name })} />
    </>
  );
}

function Delete({ applicationId, id, name }: { applicationId: string; id: string; name: string }) {
  const { t } = useTranslation('applications');
  const writes = useWrites();
  const run = async () => {
    await writes.removeKey(applicationId, id);
    notify('ok', t('keys.deleted', { name }));
  };
  return (
    <AskButton
      className="quiet danger"
      of={t('keys.deleteOf', { name })}
      title={t('ask.deleteKey', { name })}
      text={t('ask.deleteKeyText')}
      action={t('delete')}
      run={run}
    />
  );
}
