import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { changedMeanwhile } from '../../api/error';
import { useBase } from '../../session/Base';
import { Button } from '../../ui/Button';
import Confirm from '../../ui/form/Confirm'; // at hand: a file lost meanwhile must not take what was typed
import { Conflict, type Collision } from '../../ui/form/Conflict';
import { useTellFault } from '../../ui/page/faultText';
import { Area, Form, Input, Refused, Select, useDraft, useTyped } from '../../ui/form/Form';
import { Icon } from '../../ui/Icon';
import { merge, type Merged } from '../../ui/form/merge';
import { notify } from '../../ui/page/notice';
import { useLeaving } from '../../ui/page/useLeaving';
import { Check } from './Check';
import { Members, useFirstBase } from './Members';
import { type Capability, type Group } from '../queries';
import { useSave } from '../writes';
import { changes, draft, finalUrl, hostOf, repeated, sameOrigin, stored, type Settings } from './settings';

const Line = Input<Settings>;
const Text = Area<Settings>;
const Choice = Select<Settings>;
const code = { className: 'input mono', spellCheck: false };

/** Everything of a capability on one page; the key goes in and never comes out. */
export function Editor({ before, capability, groups }: { before: Settings; capability: Capability | null; groups: Group[] }) {
  const { t } = useTranslation(['admin', 'common']);
  const navigate = useNavigate();
  const tell = useTellFault();
  const form = useDraft<Settings>(before);
  const now = useTyped(form);
  const base = form.formState.defaultValues as Settings;
  const read = useRef(capability?.updatedAt ?? ''); // of the base
  const [conflict, setConflict] = useState<(Merged<Settings> & { theirs: Settings; ours: Settings; at: string }) | null>(null);
  const [moving, setMoving] = useState<Settings | null>(null);
  const save = useSave(capability?.id ?? null);
  const created = useRef('');
  const dirty = Object.keys(changes(base, now)).length > 0;
  // What was read anew is what is edited, unless something was: then saving tells what changed meanwhile.
  useEffect(() => {
    if (dirty || !capability || capability.updatedAt <= read.current) return;
    read.current = capability.updatedAt;
    form.reset(before);
  });
  const changed = (current: Capability) => {
    const [theirs, ours] = [stored(current), form.getValues()];
    const merged = merge(base, theirs, ours);
    read.current = current.updatedAt;
    form.reset(merged.value);
    form.resetDefaultValues(theirs);
    setConflict({ ...merged, theirs, ours, at: current.updatedAt });
  };

  // A stored key that would be sent to another host goes there only once it is said.
  const moves = (now: Settings): boolean =>
    now.upstreamKey === '' && capability?.hasUpstreamKey === true && !sameOrigin(base.upstreamBaseUrl, now.upstreamBaseUrl);
  const submit = async (now: Settings) => {
    if (moves(now) && finalUrl(now.upstreamBaseUrl, '') !== null) setMoving(now);
    else await send(now);
  };
  const send = (now: Settings) =>
    save.mutateAsync(
      { body: capability ? changes(base, now) : draft(now), updatedAt: read.current },
      {
        onSuccess: (saved) => {
          notify('ok', capability ? t('editor.saved') : t('editor.created', { name: saved.name }));
          read.current = saved.updatedAt;
          form.reset(stored(saved)); // without the key
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

  return (
    <Form form={form} className="editor" onSubmit={submit}>
      <Basics now={now} groups={groups} locked={capability !== null} />
      <section className="block stack" aria-label={t('editor.upstream')}>
        <h2>{t('editor.upstream')}</h2>
        <Members health={capability?.upstreams ?? []} />
        <Upstream now={now} savedFor={capability?.hasUpstreamKey ? capability.upstreamBaseUrl : null} />
        <Final id={now.id} now={now} />
        {now.upstreams === '' && <Check id={capability?.id ?? null} now={now} />}
      </section>
      {conflict && (
        <Conflict
          key={conflict.at}
          collisions={collisions(conflict)}
          onChoose={(field, own) =>
            form.setValue(field as keyof Settings, (own ? conflict.ours : conflict.theirs)[field as keyof Settings])
          }
        />
      )}
      <Refused error={save.error} changed={false} />
      <div className="save-bar">
        <span className="meta">{dirty ? t('editor.unsaved') : t('editor.clean')}</span>
        <Button onClick={() => void navigate('/admin/capabilities')}>{t('common:action.cancel')}</Button>
        <Button kind="primary" type="submit" disabled={!dirty} loading={save.isPending}>
          {capability ? t('editor.save') : t('editor.create')}
        </Button>
      </div>
      {moving && (
        <Confirm
          danger
          title={t('editor.keyMoves')}
          text={t('editor.keyMovesText', { from: hostOf(base.upstreamBaseUrl), to: hostOf(moving.upstreamBaseUrl) })}
          action={t('editor.keyMovesNow')}
          run={async () => {
            await send(moving);
          }}
          onClosed={() => setMoving(null)}
        />
      )}
      <Leaving dirty={dirty} passes={(path) => created.current !== '' && path.endsWith(encodeURIComponent(created.current))} />
    </Form>
  );
}

/** Asks before typed changes are left behind. */
function Leaving({ dirty, passes }: { dirty: boolean; passes: (path: string) => boolean }) {
  const { t } = useTranslation('admin');
  const leaving = useLeaving(
    dirty,
    ({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname && !passes(nextLocation.pathname),
  );
  if (!leaving) return null;
  return (
    <Confirm
      danger
      title={t('confirm.leave')}
      action={t('confirm.leaveNow')}
      cancel={t('confirm.stay')}
      run={leaving.go}
      onClosed={(done) => !done && leaving.stay()}
    />
  );
}

function Basics({ now, groups, locked }: { now: Settings; groups: Group[]; locked: boolean }) {
  const { t } = useTranslation(['admin', 'common']);
  const known = groups.some(({ id }) => id === now.groupId);
  return (
    <section className="block stack" aria-label={t('editor.basics')}>
      <h2>{t('editor.basics')}</h2>
      <div className="editor-grid">
        <Line
          {...code}
          name="id"
          label={t('editor.id')}
          hint={locked ? t('editor.idLocked') : t('editor.idHint')}
          readOnly={locked}
          maxLength={64}
        />
        <Line name="name" label={t('editor.name')} id="capability-name" maxLength={64} />
        <Choice name="groupId" label={t('editor.group')}>
          {!known && <option value={now.groupId}>{now.groupId || t('editor.noGroup')}</option>}
          {groups.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Choice>
        <Line name="sortOrder" label={t('editor.order')} type="number" step="1" />
        <Text whole name="description" label={t('editor.description')} rows={3} maxLength={1024} />
        {!locked && (
          <Choice name="status" label={t('editor.status')}>
            <option value="enabled">{t('common:status.enabled')}</option>
            <option value="disabled">{t('common:status.disabled')}</option>
          </Choice>
        )}
      </div>
    </section>
  );
}

const auths = ['bearer', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

function Upstream({ now, savedFor }: { now: Settings; savedFor: string | null }) {
  const { t } = useTranslation(['admin', 'common']);
  const saved = savedFor !== null && sameOrigin(savedFor, now.upstreamBaseUrl);
  const moves = savedFor !== null && !saved && now.upstreamKey === '';
  return (
    <div className="editor-grid">
      <Line
        {...code}
        whole
        name="upstreamBaseUrl"
        label={t('editor.baseUrl')}
        hint={now.upstreams === '' ? t('editor.baseUrlHint') : t('editor.baseUrlIdle')}
        inputMode="url"
      />
      <Choice name="upstreamAuth" label={t('editor.auth')}>
        {auths.map((one) => (
          <option key={one} value={one}>
            {t(`editor.auths.${one}`)}
          </option>
        ))}
      </Choice>
      <Line
        name="upstreamKey"
        label={t('editor.key')}
        hint={moves ? t('editor.keyKept') : t('editor.keyHint')}
        className="input mono"
        type="password"
        placeholder={savedFor === null ? '' : t('editor.keySaved')}
        autoComplete="new-password"
      />
      <Line {...code} name="upstreamModel" label={t('editor.model')} hint={t('editor.modelHint')} />
      <Line {...code} name="defaultPath" label={t('editor.path')} hint={t('editor.pathHint')} />
      <Line
        {...code}
        name="allowedMethods"
        label={t('editor.methods')}
        hint={t('editor.methodsHint')}
        placeholder={t('editor.everything')}
        autoCapitalize="characters"
      />
      <Text
        name="allowedPaths"
        label={t('editor.paths')}
        hint={t('editor.pathsHint')}
        className="area mono"
        rows={2}
        placeholder={t('editor.everything')}
        autoComplete="off"
        spellCheck={false}
      />
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
