import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { ApiError, changedMeanwhile } from '../api/error';
import { useWrites } from '../applications/writes';
import { useFormat } from '../format/useFormat';
import { Button } from '../ui/Button';
import { composing } from '../ui/composing';
import { Fault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { LimitFields } from './LimitFields';
import { changed, LIMITS, typedOf, wrong } from './limits';

/** Sets the owner's limits; what somebody else changed meanwhile is told before it is replaced. */
export function LimitsForm({ application, onClose }: { application: Schemas['Application']; onClose: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const writes = useWrites();
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [read, setRead] = useState(application); // as it was when it was read last
  const [typed, setTyped] = useState(() => typedOf(application.limits));
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const theirs = changedMeanwhile<Schemas['Application']>(error);
  const bad = Object.fromEntries(wrong(typed).map((name) => [name, t('common:limits.wrong')]));
  const faults = { ...(error instanceof ApiError ? error.fields : {}), ...bad };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (wrong(typed).length > 0) return form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    setBusy(true);
    try {
      const edit = changed(read.limits, typed);
      if (Object.keys(edit).length > 0) await writes.setLimits(read.id, edit, read.updatedAt);
      notify('ok', t('limits.saved', { name: read.name }));
      onClose();
    } catch (failed) {
      setError(failed);
      setRead((last) => changedMeanwhile<Schemas['Application']>(failed) ?? last);
      setBusy(false);
    }
  };
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  const hint = (name: (typeof LIMITS)[number]) =>
    read.ceilings[name] === null ? t('limits.hint') : t('limits.ceiling', { n: format.count(read.ceilings[name]) });
  const shown = (limits: Schemas['Limits']) =>
    LIMITS.filter((name) => limits[name] !== null)
      .map((name) => `${t(`common:limits.${name}`)} ${format.count(limits[name])}`)
      .join(', ') || t('common:limits.none');
  return (
    <form
      ref={form}
      className="stack limits-form"
      noValidate
      aria-label={t('limits.edit')}
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose()}
    >
      <div className="limit-grid">
        <LimitFields
          id={id}
          typed={typed}
          faults={faults}
          hint={hint}
          autoFocus
          onChange={(next) => {
            setTyped(next);
            if (!theirs) setError(null);
          }}
        />
      </div>
      {theirs && (
        <div className="bar" data-kind="warn" role="alert">
          <Icon name="warn" />
          {t('limits.changed', { theirs: shown(theirs.limits) })}
        </div>
      )}
      {error !== null && !theirs && !(error instanceof ApiError && Object.keys(error.fields).length > 0) && <Fault error={error} />}
      <div className="row">
        <Button kind="primary" type="submit" loading={busy}>
          {t('form.save')}
        </Button>
        <Button onClick={onClose}>{t('common:action.cancel')}</Button>
      </div>
    </form>
  );
}
