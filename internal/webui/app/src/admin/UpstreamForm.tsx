import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { ApiError, changedMeanwhile } from '../api/error';
import { Button } from '../ui/Button';
import { composing } from '../ui/composing';
import { Fault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { useSaveUpstream, type NamedUpstream } from './queries';
import { sameOrigin } from './settings';

type Typed = Record<'id' | 'name' | 'baseUrl' | 'auth' | 'key' | 'checkPath' | 'checkModel', string>;

const fresh: Typed = { id: '', name: '', baseUrl: '', auth: 'bearer', key: '', checkPath: '/v1/models', checkModel: '' };
const stored = ({ id, name, baseUrl, auth, checkPath, checkModel }: NamedUpstream): Typed => ({
  id,
  name,
  baseUrl,
  auth,
  key: '',
  checkPath,
  checkModel,
});
const auths = ['bearer', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

/** Creates an upstream, or edits `upstream`. The server tries the key before it saves it. */
export function UpstreamForm({ upstream, onClose }: { upstream: NamedUpstream | null; onClose: () => void }) {
  const { t } = useTranslation(['admin', 'common']);
  const save = useSaveUpstream(upstream?.id ?? null);
  const form = useRef<HTMLFormElement>(null);
  const [read, setRead] = useState(upstream); // as it was when it was read last
  const before = read ? stored(read) : fresh;
  const [typed, setTyped] = useState(before);
  const [skip, setSkip] = useState(false);
  const set = (change: Partial<Typed>) => setTyped({ ...typed, ...change });
  const fields = save.error instanceof ApiError ? save.error.fields : {};
  const theirs = changedMeanwhile<NamedUpstream>(save.error);
  const again = read !== null && typed.key === '' && !sameOrigin(read.baseUrl, typed.baseUrl);
  const changed = Object.fromEntries(
    (Object.keys(typed) as (keyof Typed)[]).filter((name) => typed[name] !== before[name]).map((name) => [name, typed[name]]),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = (read ? changed : { ...typed, ...(typed.id.trim() === '' ? { id: undefined } : {}) }) as Schemas['UpstreamEdit'];
    save.mutate(
      { body: { ...body, ...(skip ? { skipCheck: true } : {}) }, updatedAt: read?.updatedAt ?? '' },
      {
        onSuccess: () => {
          notify('ok', t('upstreams.saved', { name: typed.name }));
          onClose();
        },
        onError: (error) => {
          const current = changedMeanwhile<NamedUpstream>(error);
          if (current) setRead(current);
        },
      },
    );
  };
  useEffect(() => {
    if (save.isError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [save.isError, save.failureCount]);
  const part = { typed, set, fields };
  const ready = typed.name.trim() !== '' && typed.baseUrl.trim() !== '' && (read ? Object.keys(changed).length > 0 : typed.key !== '');
  return (
    <form
      ref={form}
      className="block stack price-form"
      noValidate
      aria-label={upstream ? t('upstreams.editOf', { name: upstream.name }) : t('upstreams.add')}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose()}
    >
      <div className="upstream-grid">
        <Field {...part} name="name" label={t('editor.name')} hint="" autoFocus />
        <Field
          {...part}
          name="id"
          label={t('editor.id')}
          hint={read ? t('editor.idLocked') : t('upstreams.idHint')}
          locked={read !== null}
        />
        <Field {...part} name="baseUrl" label={t('editor.baseUrl')} hint={t('editor.baseUrlHint')} />
        <div className="field">
          <label htmlFor="upstream-auth">{t('editor.auth')}</label>
          <select id="upstream-auth" className="select" value={typed.auth} onChange={(event) => set({ auth: event.target.value })}>
            {auths.map((one) => (
              <option key={one} value={one}>
                {t(`editor.auths.${one}`)}
              </option>
            ))}
          </select>
        </div>
        <Field
          {...part}
          name="key"
          label={t('editor.key')}
          hint={t('upstreams.keyHint')}
          secret
          placeholder={read && !again ? t('editor.keySaved') : ''}
          fault={again ? t('editor.keyAgain') : undefined}
        />
        <Field {...part} name="checkPath" label={t('upstreams.checkPath')} hint={t('upstreams.checkPathHint')} />
        <Field {...part} name="checkModel" label={t('upstreams.checkModel')} hint={t('upstreams.checkModelHint')} />
      </div>
      {(fields['key'] !== undefined || skip) && (
        <label className="row">
          <input type="checkbox" checked={skip} onChange={(event) => setSkip(event.target.checked)} />
          {t('upstreams.skip')}
        </label>
      )}
      {theirs && (
        <div className="bar" data-kind="warn" role="alert">
          <Icon name="warn" />
          {t('upstreams.changed')}
        </div>
      )}
      {save.isError && Object.keys(fields).length === 0 && !theirs && <Fault error={save.error} />}
      <div className="row">
        <Button kind="primary" type="submit" loading={save.isPending} disabled={!ready}>
          {save.isPending ? t('upstreams.trying') : t('upstreams.save')}
        </Button>
        <Button onClick={onClose}>{t('common:action.cancel')}</Button>
      </div>
    </form>
  );
}

interface Part {
  typed: Typed;
  set: (change: Partial<Typed>) => void;
  fields: Record<string, string>;
  name: keyof Typed;
  label: string;
  hint: string;
  fault?: string | undefined;
  placeholder?: string;
  locked?: boolean;
  secret?: boolean;
  autoFocus?: boolean;
}

function Field({
  typed,
  set,
  fields,
  name,
  label,
  hint,
  fault = fields[name],
  placeholder,
  locked = false,
  secret = false,
  autoFocus = false,
}: Part) {
  const id = `upstream-${name}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={name === 'name' ? 'input' : 'input mono'}
        type={secret ? 'password' : 'text'}
        value={typed[name]}
        readOnly={locked}
        autoFocus={autoFocus}
        placeholder={placeholder}
        autoComplete={secret ? 'new-password' : 'off'}
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => set({ [name]: event.target.value })}
      />
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
