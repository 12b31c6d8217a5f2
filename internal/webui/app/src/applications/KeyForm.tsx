import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, changedMeanwhile } from '../api/error';
import { Button } from '../ui/Button';
import { composing } from '../ui/composing';
import { Fault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { draft, fresh, stored, type Key, type Typed } from './keys';
import { useWrites } from './writes';

const NAMES = ['name', 'expires', 'addresses'] as const;
const faults = { name: 'name', expires: 'expiresAt', addresses: 'allowedCidrs' } as const;

/** Makes a key, or edits `key`. One that was made is told in full, once. */
export function KeyForm({
  applicationId,
  from,
  onMade,
  onClose,
}: {
  applicationId: string;
  from: Key | null;
  onMade: (id: string, secret: string) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const writes = useWrites();
  const form = useRef<HTMLFormElement>(null);
  const [read, setRead] = useState(from); // as it was when it was read last
  const [typed, setTyped] = useState(() => (from ? stored(from) : fresh));
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const theirs = changedMeanwhile<Key>(fault);
  const fields = fault instanceof ApiError ? fault.fields : {};
  const save = async () => {
    if (read) {
      await writes.updateKey(applicationId, read.id, draft(typed, stored(read)), read.updatedAt);
      notify('ok', t('keys.saved', { name: typed.name }));
    } else {
      const made = await writes.createKey(applicationId, { ...draft(typed), name: typed.name.trim() });
      onMade(made.id, made.accessKey);
      notify('ok', t('keys.made', { name: made.name }));
    }
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    save().catch((error: unknown) => {
      const now = changedMeanwhile<Key>(error);
      if (now) {
        setRead(now);
        setTyped(stored(now));
      }
      setFault(error);
      setBusy(false);
    });
  };
  useEffect(() => {
    if (fault !== null) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [fault]);
  return (
    <form
      ref={form}
      className="stack key-form"
      noValidate
      aria-label={t(from ? 'keys.edit' : 'keys.add')}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose()}
    >
      <div className="key-grid">
        {NAMES.map((name) => (
          <Field key={name} name={name} typed={typed} fault={fields[faults[name]]} set={(text) => setTyped({ ...typed, [name]: text })} />
        ))}
      </div>
      {theirs && (
        <div className="bar" data-kind="warn" role="alert">
          <Icon name="warn" />
          {t('keys.changed')}
        </div>
      )}
      {fault !== null && !theirs && Object.keys(fields).length === 0 && <Fault error={fault} />}
      <div className="row">
        <Button kind="primary" type="submit" loading={busy} disabled={typed.name.trim() === ''}>
          {t(from ? 'keys.save' : 'keys.create')}
        </Button>
        <Button onClick={onClose}>{t('common:action.cancel')}</Button>
      </div>
    </form>
  );
}

function Field({ name, typed, fault, set }: { name: keyof Typed; typed: Typed; fault: string | undefined; set: (text: string) => void }) {
  const { t } = useTranslation('applications');
  const id = `key-${name}`;
  const shared = { id, value: typed[name], 'aria-invalid': fault !== undefined, 'aria-describedby': `${id}-hint`, autoComplete: 'off' };
  const hint = { name: '', expires: t('keys.expiresHint'), addresses: t('keys.addressesHint') }[name];
  return (
    <div className="field">
      <label htmlFor={id}>{name === 'name' ? t('name') : t(`keys.${name}`)}</label>
      {name === 'addresses' ? (
        <textarea {...shared} className="area mono" rows={2} spellCheck={false} onChange={(event) => set(event.target.value)} />
      ) : (
        <input
          {...shared}
          className="input"
          type={name === 'expires' ? 'datetime-local' : 'text'}
          maxLength={name === 'name' ? 64 : undefined}
          autoFocus={name === 'name'}
          onChange={(event) => set(event.target.value)}
        />
      )}
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
