import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { ApiError, changedMeanwhile } from '../api/error';
import { useFormat } from '../format/useFormat';
import { LimitFields } from '../limits/LimitFields';
import { LIMITS, limitsOf, typedOf, wrong } from '../limits/limits';
import { Button } from '../ui/Button';
import { composing } from '../ui/composing';
import { Fault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { existing, targetOf } from './ceilings';
import { officeQueries, usePutCeiling, type Ceiling } from './queries';

/** Sets a ceiling, or edits one; what is there by now is told before it is replaced. */
export function CeilingForm({ ceiling, onClose }: { ceiling: Ceiling | null; onClose: () => void }) {
  const { t } = useTranslation(['admin', 'common']);
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const put = usePutCeiling();
  const [scope, setScope] = useState<Ceiling['scope']>(ceiling?.scope ?? 'all');
  const [target, setTarget] = useState(ceiling?.ownerEmail ?? '');
  const [typed, setTyped] = useState(() => typedOf(ceiling?.limits ?? null));
  const [read, setRead] = useState(ceiling); // as it was when it was read last
  const shown = useShown();
  const { data } = useQuery({
    ...officeQueries.ceilings({ page: 1, scope, q: scope === 'all' ? '' : target.trim() }),
    enabled: ceiling === null,
  });
  const old = ceiling === null && (scope === 'all' || target.trim() !== '') ? existing(data?.items ?? [], scope, target) : undefined;
  const theirs = changedMeanwhile<Ceiling>(put.error);
  const told = put.error instanceof ApiError ? put.error.fields : {};
  const faults = { ...told, ...Object.fromEntries(wrong(typed).map((name) => [name, t('common:limits.wrong')])) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wrong(typed).length > 0) return form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    const draft: Schemas['CeilingDraft'] = ceiling
      ? targetOf(ceiling)
      : scope === 'all'
        ? { scope }
        : scope === 'owner'
          ? { scope, owner: target }
          : { scope, application: target };
    put.mutate(
      { body: { ...draft, ...limitsOf(typed) }, updatedAt: (read ?? old)?.updatedAt },
      {
        onSuccess: () => {
          notify('ok', t('limits.saved'));
          onClose();
        },
        onError: (error) => setRead((last) => changedMeanwhile<Ceiling>(error) ?? last),
      },
    );
  };
  useEffect(() => {
    if (put.isError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [put.isError, put.failureCount]);
  return (
    <form
      ref={form}
      className="block stack ceiling-form"
      noValidate
      aria-label={t(ceiling ? 'limits.edit' : 'limits.add')}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose()}
    >
      <div className="ceiling-grid">
        <div className="field">
          <label htmlFor={`${id}-scope`}>{t('limits.scope')}</label>
          <select
            id={`${id}-scope`}
            className="select"
            value={scope}
            disabled={ceiling !== null}
            autoFocus={ceiling === null}
            onChange={(event) => {
              setScope(event.target.value as Ceiling['scope']);
              setRead(null);
              put.reset();
            }}
          >
            {(['all', 'owner', 'application'] as const).map((one) => (
              <option key={one} value={one}>
                {t(`limits.scopes.${one}`)}
              </option>
            ))}
          </select>
        </div>
        {scope !== 'all' && (
          <Target
            id={`${id}-target`}
            scope={scope}
            ceiling={ceiling}
            value={target}
            fault={told['owner'] ?? told['application']}
            onChange={(text) => {
              setTarget(text);
              setRead(null);
              put.reset();
            }}
          />
        )}
      </div>
      <div className="ceiling-grid">
        <LimitFields id={id} typed={typed} faults={faults} hint={() => t('limits.hint')} autoFocus={ceiling !== null} onChange={setTyped} />
      </div>
      {old && !theirs && (
        <div className="bar" data-kind="warn" role="status">
          <Icon name="warn" />
          {t('limits.replaces', { old: shown(old.limits) })}
        </div>
      )}
      {theirs && (
        <div className="bar" data-kind="warn" role="alert">
          <Icon name="warn" />
          {t('limits.changed', { theirs: shown(theirs.limits) })}
        </div>
      )}
      {put.isError && !theirs && Object.keys(told).length === 0 && <Fault error={put.error} />}
      <div className="row">
        <Button kind="primary" type="submit" loading={put.isPending} disabled={scope !== 'all' && target.trim() === ''}>
          {t('limits.save')}
        </Button>
        <Button onClick={onClose}>{t('common:action.cancel')}</Button>
      </div>
    </form>
  );
}

/** Limits in one line. */
function useShown() {
  const { t } = useTranslation(['admin', 'common']);
  const format = useFormat();
  return (limits: Schemas['Limits']) =>
    LIMITS.filter((name) => limits[name] !== null)
      .map((name) => `${t(`common:limits.${name}`)} ${format.count(limits[name])}`)
      .join(', ') || t('limits.nothing');
}

function Target({
  id,
  scope,
  ceiling,
  value,
  fault,
  onChange,
}: {
  id: string;
  scope: 'owner' | 'application';
  ceiling: Ceiling | null;
  value: string;
  fault: string | undefined;
  onChange: (text: string) => void;
}) {
  const { t } = useTranslation('admin');
  const fixed = ceiling && (scope === 'owner' ? ceiling.ownerEmail : ceiling.applicationId);
  return (
    <div className="field">
      <label htmlFor={id}>{t(`limits.${scope}`)}</label>
      <input
        id={id}
        className="input mono"
        value={fixed ?? value}
        readOnly={ceiling !== null}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-hint`} className="meta">
        {fault ? (
          <span className="fault-text" role="alert">
            {fault}
          </span>
        ) : (
          t(`limits.${scope}Hint`)
        )}
      </p>
    </div>
  );
}
