import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError, changedMeanwhile } from '../api/error';
import { LIMITS } from '../limits/limits';
import { Button } from '../ui/Button';
import { composing } from '../ui/composing';
import { Fault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { ChannelFields } from './ChannelFields';
import {
  counted,
  draftOf,
  editOf,
  fresh,
  KINDS,
  single,
  stored,
  UNITS,
  USUAL,
  windowed,
  WINDOWS,
  type Kind,
  type TargetType,
  type Typed,
} from './draft';
import { alertQueries, calls, useAlertWrite, type Alert, type Site } from './queries';

/** Makes an alert, or edits one. */
export function AlertForm({ site, alert, onClose }: { site: Site; alert: Alert | null; onClose: () => void }) {
  const { t } = useTranslation(['alerts', 'common']);
  const form = useRef<HTMLFormElement>(null);
  const [read, setRead] = useState(alert); // as it was when it was read last
  const [before, setBefore] = useState(() => (alert ? stored(alert) : fresh(site)));
  const [typed, setTyped] = useState(before);
  const save = useAlertWrite((of: Typed) =>
    read ? calls[site].edit(read.id, read.updatedAt, editOf(of, before)) : calls[site].create(draftOf(of)),
  );
  const theirs = changedMeanwhile<Alert>(save.error);
  const faults = save.error instanceof ApiError ? save.error.fields : {};
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    save.mutate(typed, {
      onSuccess: (saved) => {
        notify('ok', t('saved', { name: saved.name }));
        onClose();
      },
      onError: (error) => {
        const now = changedMeanwhile<Alert>(error);
        if (!now) return;
        setRead(now);
        setBefore(stored(now));
        setTyped(stored(now));
      },
    });
  };
  useEffect(() => {
    if (save.isError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [save.isError, save.failureCount]);
  const set = (change: Partial<Typed>) => setTyped((now) => ({ ...now, ...change }));
  return (
    <form
      ref={form}
      className="block stack alert-form"
      noValidate
      aria-label={t(alert ? 'edit' : 'add')}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose()}
    >
      <div className="alert-grid">
        <Field name={t('name')} fault={faults['name']}>
          {(shared) => (
            <input
              {...shared}
              className="input"
              maxLength={64}
              autoFocus
              value={typed.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Watched site={site} typed={typed} fixed={alert} faults={faults} set={set} />
        {typed.kind !== 'dayClosed' && <Threshold typed={typed} fault={faults['threshold'] ?? faults['resolveThreshold']} set={set} />}
        <Further typed={typed} fixed={alert !== null} faults={faults} set={set} />
      </div>
      <ChannelFields channels={typed.channels} fault={faults['channels']} onChange={(channels) => set({ channels })} />
      {theirs && (
        <div className="bar" data-kind="warn" role="alert">
          <Icon name="warn" />
          {t('changed')}
        </div>
      )}
      {save.isError && !theirs && Object.keys(faults).length === 0 && <Fault error={save.error} />}
      <div className="row">
        <Button kind="primary" type="submit" loading={save.isPending} disabled={typed.name.trim() === ''}>
          {t('save')}
        </Button>
        <Button onClick={onClose}>{t('common:action.cancel')}</Button>
      </div>
    </form>
  );
}

interface Shared {
  id: string;
  'aria-invalid': boolean;
  'aria-describedby': string;
}

/** A labelled field with its hint, or what is wrong with it. */
export function Field({
  name,
  fault,
  hint = '',
  children,
}: {
  name: string;
  fault: string | undefined;
  hint?: string;
  children: (shared: Shared) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      {children({ id, 'aria-invalid': fault !== undefined, 'aria-describedby': `${id}-hint` })}
      <p id={`${id}-hint`} className="meta">
        {fault ? (
          <span className="fault-text" role="alert">
            {fault}
          </span>
        ) : (
          hint
        )}
      </p>
    </div>
  );
}

interface Part {
  typed: Typed;
  set: (change: Partial<Typed>) => void;
}

/** What is watched, and of what; of an alert that there is neither can be changed. */
function Watched({ site, typed, fixed, faults, set }: Part & { site: Site; fixed: Alert | null; faults: Record<string, string> }) {
  const { t } = useTranslation('alerts');
  const kinds = KINDS[site];
  const targets = kinds.find(({ kind }) => kind === typed.kind)?.targets ?? [];
  const { data } = useQuery({ ...alertQueries.targets(typed.targetType), enabled: fixed === null && single(typed.targetType) });
  const choose = (kind: Kind) => {
    const able: readonly TargetType[] = kinds.find((one) => one.kind === kind)?.targets ?? [];
    const targetType = able.includes(typed.targetType) ? typed.targetType : (able[0] ?? 'platform');
    set({ kind, targetType, threshold: USUAL[kind], ...(targetType === typed.targetType ? {} : { targetId: '' }) });
  };
  return (
    <>
      <Field name={t('kind')} fault={faults['kind']} hint={typed.kind === 'dayClosed' ? t('daysHint') : ''}>
        {(shared) => (
          <select
            {...shared}
            className="select"
            disabled={fixed !== null}
            value={typed.kind}
            onChange={(event) => choose(event.target.value as Kind)}
          >
            {kinds.map(({ kind }) => (
              <option key={kind} value={kind}>
                {t(`kinds.${kind}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {targets.length > 1 && (
        <Field name={t('of')} fault={faults['targetType']}>
          {(shared) => (
            <select
              {...shared}
              className="select"
              disabled={fixed !== null}
              value={typed.targetType}
              onChange={(event) => set({ targetType: event.target.value as TargetType, targetId: '' })}
            >
              {targets.map((one) => (
                <option key={one} value={one}>
                  {t(`targets.${one}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {single(typed.targetType) && (
        <Field name={t(`targets.${typed.targetType}`)} fault={faults['targetId']}>
          {(shared) => (
            <select
              {...shared}
              className="select"
              disabled={fixed !== null}
              value={typed.targetId}
              onChange={(event) => set({ targetId: event.target.value })}
            >
              {fixed ? <option value={typed.targetId}>{fixed.target.name}</option> : <option value="">{t('choose')}</option>}
              {!fixed &&
                data?.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </select>
          )}
        </Field>
      )}
    </>
  );
}

function Threshold({ typed, fault, set }: Part & { fault: string | undefined }) {
  const { t } = useTranslation('alerts');
  const unit = typed.kind === 'cost' || typed.kind === 'dayClosed' ? typed.currency : t(`units.${UNITS[typed.kind]}`);
  const name = t('thresholdOf', { unit });
  return (
    <Field name={name} fault={fault} hint={t(typed.kind === 'keyExpiry' ? 'thresholdLeft' : 'thresholdHint')}>
      {(shared) =>
        typed.kind === 'limit' ? (
          <select {...shared} className="select" value={typed.threshold} onChange={(event) => set({ threshold: event.target.value })}>
            {[...new Set(['50', '80', '100', typed.threshold])].map((one) => (
              <option key={one} value={one}>
                {one} %
              </option>
            ))}
          </select>
        ) : (
          <input
            {...shared}
            className="input"
            inputMode="decimal"
            value={typed.threshold}
            onChange={(event) => set({ threshold: event.target.value })}
          />
        )
      }
    </Field>
  );
}

/** What only some kinds have. */
function Further({ typed, fixed, faults, set }: Part & { fixed: boolean; faults: Record<string, string> }) {
  const { t } = useTranslation(['alerts', 'common']);
  return (
    <>
      {windowed(typed.kind) && (
        <>
          <Field name={t('window')} fault={faults['windowMinutes']}>
            {(shared) => (
              <select
                {...shared}
                className="select"
                value={typed.windowMinutes}
                onChange={(event) => set({ windowMinutes: event.target.value })}
              >
                {WINDOWS.map((n) => (
                  <option key={n} value={n}>
                    {t('minutes', { n: String(n) })}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field name={t('minCalls')} fault={faults['minCalls']} hint={t('minCallsHint')}>
            {(shared) => (
              <input
                {...shared}
                className="input"
                inputMode="numeric"
                value={typed.minCalls}
                onChange={(event) => set({ minCalls: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
      {counted(typed.kind) && (
        <Field name={t('period')} fault={faults['period']}>
          {(shared) => (
            <select
              {...shared}
              className="select"
              disabled={fixed}
              value={typed.period}
              onChange={(event) => set({ period: event.target.value as Typed['period'] })}
            >
              {(['day', 'month'] as const).map((one) => (
                <option key={one} value={one}>
                  {t(`periods.${one}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {typed.kind === 'cost' && (
        <Field name={t('currency')} fault={faults['currency']}>
          {(shared) => (
            <input
              {...shared}
              className="input mono"
              disabled={fixed}
              maxLength={3}
              value={typed.currency}
              onChange={(event) => set({ currency: event.target.value })}
            />
          )}
        </Field>
      )}
      {typed.kind === 'limit' && (
        <Field name={t('limit')} fault={faults['limit']}>
          {(shared) => (
            <select
              {...shared}
              className="select"
              disabled={fixed}
              value={typed.limit}
              onChange={(event) => set({ limit: event.target.value as Typed['limit'] })}
            >
              {LIMITS.map((one) => (
                <option key={one} value={one}>
                  {t(`common:limits.${one}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </>
  );
}
