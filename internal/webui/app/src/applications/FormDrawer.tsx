import '../ui/form/field.css';
import './applications.css';
import { useId, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import Drawer from 'antd/es/drawer';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { changedMeanwhile } from '../api/error';
import { Antd } from '../ui/page/Antd';
import { Block } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Conflict } from '../ui/form/Conflict';
import Confirm from '../ui/form/Confirm';
import { merge, type Merged } from '../ui/form/merge';
import { notify } from '../ui/page/notice';
import { useEscape } from '../ui/keys/useEscape';
import { useLeaving } from '../ui/page/useLeaving';
import { changed, nothing, type Draft } from './form';
import { Created } from './Created';
import { Fields, type Submitted } from './Fields';
import { applicationQueries } from './queries';
import { useWrites } from './writes';

/** Creates an application (id null) or edits one. What is typed is not lost without a question. */
export default function FormDrawer({ id, onClosed }: { id: string | null; onClosed: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const [open, setOpen] = useState(true);
  const [created, setCreated] = useState<Schemas['NewApplication'] | null>(null);
  const [dirty, setDirty] = useState(false);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const form = useId();
  const leaving = useLeaving(dirty && open);
  const close = () => (dirty ? setAsking(true) : setOpen(false));
  useEscape('.form-drawer', open ? close : undefined);
  const finish = () => {
    setDirty(false);
    setOpen(false);
  };
  const title = created ? t('created.title', { name: created.name }) : t(id === null ? 'form.create' : 'form.edit');
  return (
    <Antd>
      <Drawer
        rootClassName="form-drawer"
        open={open}
        keyboard={false} // useEscape
        size="min(560px, 100vw)"
        title={title}
        closable={{ placement: 'end', 'aria-label': t('common:action.close') }}
        onClose={close}
        afterOpenChange={(visible) => !visible && onClosed()}
        footer={
          created ? null : (
            <div className="form-foot">
              <Button onClick={close}>{t('common:action.cancel')}</Button>
              <Button kind="primary" type="submit" form={form} loading={busy}>
                {t(id === null ? 'form.submit' : 'form.save')}
              </Button>
            </div>
          )
        }
      >
        {created ? (
          <Created application={created} onDone={finish} />
        ) : id === null ? (
          <Create
            form={form}
            onBusy={setBusy}
            onDirty={setDirty}
            onCreated={(application) => {
              setDirty(false);
              setCreated(application);
            }}
          />
        ) : (
          <Edit id={id} form={form} onBusy={setBusy} onDirty={setDirty} onSaved={finish} />
        )}
        {(asking || leaving) && (
          <Confirm
            title={t('form.leave')}
            text={t('form.leaveText')}
            action={t('form.discard')}
            cancel={t('form.stay')}
            run={leaving ? leaving.go : finish}
            onClosed={(done) => {
              setAsking(false);
              if (!done) leaving?.stay();
            }}
          />
        )}
      </Drawer>
    </Antd>
  );
}

interface Stage {
  form: string;
  onBusy: (busy: boolean) => void;
  onDirty: (dirty: boolean) => void;
}

function Create({ form, onBusy, onDirty, onCreated }: Stage & { onCreated: (application: Schemas['NewApplication']) => void }) {
  const writes = useWrites();
  const submit: Submitted = async (draft) =>
    onCreated(await writes.create({ ...draft, name: draft.name.trim(), capabilityIds: [...draft.capabilityIds] }));
  return <Fields id={form} saved={nothing} onBusy={onBusy} onDirty={onDirty} onSubmit={submit} />;
}

function Edit({ id, form, onBusy, onDirty, onSaved }: Stage & { id: string; onSaved: () => void }) {
  // What is edited must be what is stored now.
  const query = useQuery({ ...applicationQueries.get(id), refetchOnMount: 'always' });
  const fresh = query.isFetchedAfterMount || query.isError ? query : { ...query, data: undefined, isError: false };
  return (
    <Block query={fresh as typeof query} height={480}>
      {(application) => <EditForm application={application} form={form} onBusy={onBusy} onDirty={onDirty} onSaved={onSaved} />}
    </Block>
  );
}

const draftOf = ({ name, description, capabilityIds }: Schemas['Application']): Draft => ({ name, description, capabilityIds });

function EditForm({ application, form, onBusy, onDirty, onSaved }: Stage & { application: Schemas['Application']; onSaved: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const writes = useWrites();
  const client = useQueryClient();
  const [base, setBase] = useState({ saved: draftOf(application), updatedAt: application.updatedAt });
  const [conflict, setConflict] = useState<(Merged<Draft> & { theirs: Draft; ours: Draft }) | null>(null);
  const submit: Submitted = async (draft) => {
    const edit = changed(base.saved, draft);
    try {
      if (Object.keys(edit).length > 0) {
        const { name } = await writes.update(application.id, edit, base.updatedAt);
        notify('ok', t('saved', { name }));
      }
      onSaved();
    } catch (error) {
      const current = changedMeanwhile<Schemas['Application']>(error);
      if (!current) throw error;
      client.setQueryData(applicationQueries.get(current.id).queryKey, current); // the page below shows it too
      const theirs = draftOf(current);
      const merged = merge(base.saved, theirs, { ...draft, name: draft.name.trim() });
      setBase({ saved: theirs, updatedAt: current.updatedAt });
      setConflict({ ...merged, theirs, ours: draft });
    }
  };
  const label = { name: t('name'), description: t('form.description'), capabilityIds: t('form.capabilities') };
  const text = (draft: Draft, field: keyof Draft) => [draft[field]].flat().join(', ');
  return (
    <Fields
      key={base.updatedAt}
      id={form}
      saved={base.saved}
      start={conflict?.value}
      onBusy={onBusy}
      onDirty={onDirty}
      onSubmit={submit}
      above={
        conflict &&
        ((now, set) => (
          <Conflict
            collisions={[
              ...conflict.both.map((field) => ({
                field,
                label: label[field],
                theirs: text(conflict.theirs, field),
                ours: text(conflict.ours, field),
                kept: now[field] !== conflict.theirs[field],
              })),
              ...conflict.taken.map((field) => ({ field, label: label[field], theirs: text(conflict.theirs, field) })),
            ]}
            onChoose={(field, own) => set(field as keyof Draft, (own ? conflict.ours : conflict.theirs)[field as keyof Draft])}
          />
        ))
      }
    />
  );
}
