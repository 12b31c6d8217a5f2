import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useTellFault } from '../ui/page/faultText';
import { notify } from '../ui/page/notice';
import { useEscape } from '../ui/keys/useEscape';
import type { Status } from './status';
import { useWrites } from './writes';

const CallDrawer = lazy(() => import('../calls/CallDrawer'));
const Confirm = lazy(() => import('../ui/form/Confirm'));
const FormDrawer = lazy(() => import('./FormDrawer'));

interface Named {
  id: string;
  name: string;
}

type Question = { what: 'create' } | { what: 'edit' | 'disable' | 'delete'; on: Named };
// One may be asked while the one before is still fading out.
type Asked = Question & { turn: number };

export interface Dialogs {
  create: () => void;
  edit: (on: Named) => void;
  remove: (on: Named) => void;
  /** Enables at once; asks before it disables. */
  setStatus: (on: Named, status: Status) => void;
  /** A call that failed is opened in it as soon as it is listed. */
  log: (on: Named, callId?: string | null) => void;
  /** What is open, to be put at the end of the page. */
  open: ReactNode;
}

/** The drawers and questions that the list and the page of an application share. */
export function useDialogs(onDeleted: () => void): Dialogs {
  const { t } = useTranslation(['applications', 'common']);
  const tell = useTellFault();
  const writes = useWrites();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [log, setLog] = useState<(Named & { open: boolean; turn: number; sought: string | null }) | null>(null);
  const ask = (question: Question) => setAsked((last) => ({ ...question, turn: (last?.turn ?? 0) + 1 }));
  const turn = asked?.turn;
  const closed = () => setAsked((last) => (last?.turn === turn ? null : last));

  const enable = async (on: Named) => {
    try {
      await writes.setStatus(on.id, 'active');
      notify('ok', t('enabled', { name: on.name }));
    } catch (error) {
      tell(error);
    }
  };
  const disable = async (on: Named) => {
    await writes.setStatus(on.id, 'disabled');
    notify('ok', t('disabled', { name: on.name }));
  };
  const remove = async (on: Named) => {
    await writes.remove(on.id);
    notify('ok', t('deleted', { name: on.name }));
    onDeleted();
  };
  return {
    create: () => ask({ what: 'create' }),
    edit: (on) => ask({ what: 'edit', on }),
    remove: (on) => ask({ what: 'delete', on }),
    setStatus: (on, status) => (status === 'active' ? void enable(on) : ask({ what: 'disable', on })),
    log: ({ id, name }, sought = null) => setLog((last) => ({ id, name, sought, open: true, turn: (last?.turn ?? 0) + 1 })),
    // One waits for its code without the other, which may still be fading out: what waits is hidden.
    open: (
      <>
        <Suspense fallback={<Fetching onEscape={() => setAsked(null)} />}>
          {asked?.what === 'create' && <FormDrawer key={turn} id={null} onClosed={closed} />}
          {asked?.what === 'edit' && <FormDrawer key={turn} id={asked.on.id} onClosed={closed} />}
          {asked?.what === 'disable' && (
            <Confirm
              key={turn}
              title={t('ask.disable', { name: asked.on.name })}
              text={t('ask.disableText')}
              action={t('disable')}
              run={() => disable(asked.on)}
              onClosed={closed}
            />
          )}
          {asked?.what === 'delete' && (
            <Confirm
              key={turn}
              danger
              typed={asked.on.name}
              title={t('ask.delete', { name: asked.on.name })}
              text={t('ask.deleteText')}
              action={t('delete')}
              run={() => remove(asked.on)}
              onClosed={closed}
            />
          )}
        </Suspense>
        <Suspense fallback={<Fetching onEscape={() => setLog(null)} />}>
          {log && (
            <CallDrawer
              key={log.turn}
              applicationId={log.id}
              applicationName={log.name}
              sought={log.sought}
              open={log.open}
              onClose={() => setLog({ ...log, open: false })}
            />
          )}
        </Suspense>
      </>
    ),
  };
}

/** The code of a dialog is on its way; who has changed their mind need not wait for it. */
function Fetching({ onEscape }: { onEscape: () => void }) {
  useEscape('body', onEscape);
  return null;
}
