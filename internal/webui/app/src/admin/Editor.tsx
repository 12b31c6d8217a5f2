import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useBlocker, useNavigate } from 'react-router';
import { ApiError, changedMeanwhile } from '../api/error';
import { useBase } from '../session/Base';
import { Button } from '../ui/Button';
import Confirm from '../ui/Confirm'; // at hand: a file lost meanwhile must not take what was typed
import { Conflict, type Collision } from '../ui/Conflict';
import { Fault, useTellFault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { merge, type Merged } from '../ui/merge';
import { notify } from '../ui/notice';
import { Check } from './Check';
import { Members, useFirstBase } from './Members';
import { useSave, type Capability, type Group } from './queries';
import { changes, draft, finalUrl, repeated, sameOrigin, stored, type Settings } from './settings';

/** Everything of a capability on one page; the key goes in and never comes out. */
export function Editor({ before, capability, groups }: { before: Settings; capability: Capability | null; groups: Group[] }) {
  const { t } = useTranslation(['admin', 'common']);
  const navigate = useNavigate();
  const tell = useTellFault();
  const [base, setBase] = useState({ settings: before, updatedAt: capability?.updatedAt ?? '' });
  const [now, setNow] = useState(before);
  const [conflict, setConflict] = useState<(Merged<Settings> & { theirs: Settings; ours: Settings }) | null>(null);
  const save = useSave(capability?.id ?? null);
  const form = useRef<HTMLFormElement>(null);
  const created = useRef('');
  const set = (change: Partial<Settings>) => setNow({ ...now, ...change });
  const dirty = Object.keys(changes(base.settings, now)).length > 0;
  // What was read anew is what is edited, unless something was: then saving tells what changed meanwhile.
  if (!dirty && capability && capability.updatedAt > base.updatedAt) {
    setBase({ settings: before, updatedAt: capability.updatedAt });
    setNow(before);
  }
  const changed = (current: Capability) => {
    const theirs = stored(current);
    const merged = merge(base.settings, theirs, now);
    setBase({ settings: theirs, updatedAt: current.updatedAt });
    setNow(merged.value);
    setConflict({ ...merged, theirs, ours: now });
  };
  const fields = save.error instanceof ApiError ? save.error.fields : {};

  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(
      { body: capability ? changes(base.settings, now) : draft(now), updatedAt: base.updatedAt },
      {
        onSuccess: (saved) => {
          notify('ok', capability ? t('editor.saved') : t('editor.created', { name: saved.name }));
          setBase({ settings: stored(saved), updatedAt: saved.updatedAt });
          setNow(stored(saved)); // without the key
          setConflict(null);
          if (capability) return;
          created.current = saved.id;
          void navigate(`/admin/capabilities/${encodeURIComponent(saved.id)}`, { replace: true });
        },
        onError: (error) => {
          const current = changedMeanwhile<Capability>(error);
          if (current) changed(current);
          else tell(error);
        },
      },
    );
  };
  const label = (field: keyof Settings): string => t(`audit.fields.${field}`);
  const shown = (field: keyof Settings, value: string): string =>
    field === 'status'
      ? t(`common:status.${value as Settings['status']}`)
      : field === 'groupId'
        ? (groups.find(({ id }) => id === value)?.name ?? value)
        : value;
  const collisions = ({ both, taken, theirs, ours }: NonNullable<typeof conflict>): Collision[] => [
    ...both.map((field) => ({
      field,
      label: label(field),
      theirs: shown(field, theirs[field]),
      ours: shown(field, ours[field]),
      kept: now[field] !== theirs[field],
    })),
    ...taken.map((field) => ({ field, label: label(field), theirs: shown(field, theirs[field]) })),
  ];
  useEffect(() => {
    if (save.isError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [save.isError, save.failureCount]);

  return (
    <form ref={form} className="editor" noValidate onSubmit={submit}>
      <Basics now={now} set={set} fields={fields} groups={groups} locked={capability !== null} />
      <section className="block stack" aria-label={t('editor.upstream')}>
        <h2>{t('editor.upstream')}</h2>
        <Members
          lines={now.upstreams}
          onChange={(upstreams) => set({ upstreams })}
          fault={fields['upstreams']}
          health={capability?.upstreams ?? []}
        />
        <Upstream now={now} set={set} fields={fields} savedFor={capability?.hasUpstreamKey ? capability.upstreamBaseUrl : null} />
        <Final id={now.id} now={now} />
        {now.upstreams === '' && <Check id={capability?.id ?? null} now={now} />}
      </section>
      {conflict && (
        <Conflict
          key={base.updatedAt}
          collisions={collisions(conflict)}
          onChoose={(field, own) => set({ [field]: (own ? conflict.ours : conflict.theirs)[field as keyof Settings] })}
        />
      )}
      {save.isError && Object.keys(fields).length === 0 && changedMeanwhile(save.error) === undefined && <Fault error={save.error} />}
      <div className="save-bar">
        <span className="meta">{dirty ? t('editor.unsaved') : t('editor.clean')}</span>
        <Button onClick={() => void navigate('/admin/capabilities')}>{t('common:action.cancel')}</Button>
        <Button kind="primary" type="submit" disabled={!dirty} loading={save.isPending}>
          {capability ? t('editor.save') : t('editor.create')}
        </Button>
      </div>
      <Leaving dirty={dirty} passes={(path) => created.current !== '' && path.endsWith(encodeURIComponent(created.current))} />
    </form>
  );
}

/** Asks before typed changes are left behind; the browser asks before the tab is closed. */
function Leaving({ dirty, passes }: { dirty: boolean; passes: (path: string) => boolean }) {
  const { t } = useTranslation('admin');
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => dirty && currentLocation.pathname !== nextLocation.pathname && !passes(nextLocation.pathname),
  );
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [dirty]);
  if (blocker.state !== 'blocked') return null;
  return (
    <Confirm
      danger
      title={t('confirm.leave')}
      action={t('confirm.leaveNow')}
      cancel={t('confirm.stay')}
      run={blocker.proceed}
      onClosed={(done) => !done && blocker.reset()}
    />
  );
}

interface Part {
  now: Settings;
  set: (change: Partial<Settings>) => void;
  fields: Record<string, string>;
}

function Row({
  name,
  label,
  hint,
  fault,
  whole = false,
  children,
}: {
  name: string;
  label: string;
  hint?: string;
  fault?: string | undefined;
  whole?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={whole ? 'field whole' : 'field'}>
      <label htmlFor={`capability-${name}`}>{label}</label>
      {children}
      <p id={`capability-${name}-hint`} className="meta">
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

const bound = (name: string, fault?: string) => ({
  id: `capability-${name}`,
  'aria-invalid': fault !== undefined,
  'aria-describedby': `capability-${name}-hint`,
});

function Basics({ now, set, fields, groups, locked }: Part & { groups: Group[]; locked: boolean }) {
  const { t } = useTranslation(['admin', 'common']);
  const known = groups.some(({ id }) => id === now.groupId);
  return (
    <section className="block stack" aria-label={t('editor.basics')}>
      <h2>{t('editor.basics')}</h2>
      <div className="editor-grid">
        <Row name="id" label={t('editor.id')} hint={locked ? t('editor.idLocked') : t('editor.idHint')} fault={fields['id']}>
          <input
            {...bound('id', fields['id'])}
            className="input mono"
            value={now.id}
            readOnly={locked}
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set({ id: event.target.value })}
          />
        </Row>
        <Row name="name" label={t('editor.name')} fault={fields['name']}>
          <input
            {...bound('name', fields['name'])}
            className="input"
            value={now.name}
            maxLength={64}
            autoComplete="off"
            onChange={(event) => set({ name: event.target.value })}
          />
        </Row>
        <Row name="groupId" label={t('editor.group')} fault={fields['groupId']}>
          <select
            {...bound('groupId', fields['groupId'])}
            className="select"
            value={now.groupId}
            onChange={(event) => set({ groupId: event.target.value })}
          >
            {!known && <option value={now.groupId}>{now.groupId || t('editor.noGroup')}</option>}
            {groups.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </Row>
        <Row name="sortOrder" label={t('editor.order')} fault={fields['sortOrder']}>
          <input
            {...bound('sortOrder', fields['sortOrder'])}
            className="input"
            type="number"
            step="1"
            value={now.sortOrder}
            onChange={(event) => set({ sortOrder: event.target.value })}
          />
        </Row>
        <Row whole name="description" label={t('editor.description')} fault={fields['description']}>
          <textarea
            {...bound('description', fields['description'])}
            className="area"
            rows={3}
            maxLength={1024}
            value={now.description}
            onChange={(event) => set({ description: event.target.value })}
          />
        </Row>
        {!locked && (
          <Row name="status" label={t('editor.status')} fault={fields['status']}>
            <select
              {...bound('status', fields['status'])}
              className="select"
              value={now.status}
              onChange={(event) => set({ status: event.target.value as Settings['status'] })}
            >
              <option value="enabled">{t('common:status.enabled')}</option>
              <option value="disabled">{t('common:status.disabled')}</option>
            </select>
          </Row>
        )}
      </div>
    </section>
  );
}

const auths = ['bearer', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

function Upstream({ now, set, fields, savedFor }: Part & { savedFor: string | null }) {
  const { t } = useTranslation(['admin', 'common']);
  const saved = savedFor !== null && sameOrigin(savedFor, now.upstreamBaseUrl);
  const again = savedFor !== null && !saved && now.upstreamKey === '';
  const keyFault = again ? t('editor.keyAgain') : fields['upstreamKey'];
  return (
    <div className="editor-grid">
      <Row
        whole
        name="upstreamBaseUrl"
        label={t('editor.baseUrl')}
        hint={now.upstreams === '' ? t('editor.baseUrlHint') : t('editor.baseUrlIdle')}
        fault={fields['upstreamBaseUrl']}
      >
        <input
          {...bound('upstreamBaseUrl', fields['upstreamBaseUrl'])}
          className="input mono"
          inputMode="url"
          value={now.upstreamBaseUrl}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => set({ upstreamBaseUrl: event.target.value })}
        />
      </Row>
      <Row name="upstreamAuth" label={t('editor.auth')} fault={fields['upstreamAuth']}>
        <select
          {...bound('upstreamAuth', fields['upstreamAuth'])}
          className="select"
          value={now.upstreamAuth}
          onChange={(event) => set({ upstreamAuth: event.target.value as Settings['upstreamAuth'] })}
        >
          {auths.map((one) => (
            <option key={one} value={one}>
              {t(`editor.auths.${one}`)}
            </option>
          ))}
        </select>
      </Row>
      <Row name="upstreamKey" label={t('editor.key')} hint={t('editor.keyHint')} fault={keyFault}>
        <input
          {...bound('upstreamKey', keyFault)}
          className="input mono"
          type="password"
          value={now.upstreamKey}
          placeholder={saved ? t('editor.keySaved') : ''}
          autoComplete="new-password"
          onChange={(event) => set({ upstreamKey: event.target.value })}
        />
      </Row>
      <Row name="upstreamModel" label={t('editor.model')} hint={t('editor.modelHint')} fault={fields['upstreamModel']}>
        <input
          {...bound('upstreamModel', fields['upstreamModel'])}
          className="input mono"
          value={now.upstreamModel}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => set({ upstreamModel: event.target.value })}
        />
      </Row>
      <Row name="defaultPath" label={t('editor.path')} hint={t('editor.pathHint')} fault={fields['defaultPath']}>
        <input
          {...bound('defaultPath', fields['defaultPath'])}
          className="input mono"
          value={now.defaultPath}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => set({ defaultPath: event.target.value })}
        />
      </Row>
      <Row name="allowedMethods" label={t('editor.methods')} hint={t('editor.methodsHint')} fault={fields['allowedMethods']}>
        <input
          {...bound('allowedMethods', fields['allowedMethods'])}
          className="input mono"
          value={now.allowedMethods}
          placeholder={t('editor.everything')}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          onChange={(event) => set({ allowedMethods: event.target.value })}
        />
      </Row>
      <Row name="allowedPaths" label={t('editor.paths')} hint={t('editor.pathsHint')} fault={fields['allowedPaths']}>
        <textarea
          {...bound('allowedPaths', fields['allowedPaths'])}
          className="area mono"
          rows={2}
          value={now.allowedPaths}
          placeholder={t('editor.everything')}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => set({ allowedPaths: event.target.value })}
        />
      </Row>
    </div>
  );
}

/** Where a call ends up, following each edit. */
function Final({ id, now }: { id: string; now: Settings }) {
  const { t } = useTranslation(['admin', 'common']);
  const base = useBase();
  const first = useFirstBase(now);
  const url = finalUrl(first, now.defaultPath);
  const twice = repeated(first, now.defaultPath);
  const from = `${base ?? ''}/gateway${now.defaultPath}?model=${encodeURIComponent(id || '…')}`;
  return (
    <div className="final" role="group" aria-label={t('editor.final')}>
      <strong>{t('editor.final')}</strong>
      {url === null ? (
        <p className="second">{t('editor.finalNone')}</p>
      ) : (
        <>
          <p className="meta">{base === undefined ? '…' : t('editor.finalFrom', { from })}</p>
          <output>
            <code>{url}</code>
          </output>
        </>
      )}
      {twice && (
        <div className="bar" data-kind="warn">
          <Icon name="warn" />
          {t('editor.repeated', { part: twice })}
        </div>
      )}
    </div>
  );
}
