import '../ui/field.css';
import './calls.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import Drawer from 'antd/es/drawer';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useEscape } from '../ui/useEscape';
import { CallLog } from './CallLog';

/**
 * The calls of one application (spec section 4.1 rule 14). Nothing of it is in the URL. Opening
 * pushes an entry of the same URL, so that Back closes it.
 */
export default function CallDrawer({ applicationId, applicationName, sought, open, onClose }: { applicationId: string; applicationName: string; sought: string | null; open: boolean; onClose: () => void }) {
  const { t } = useTranslation(['calls', 'common']);
  const [opened, setOpened] = useState<string | null>(null);
  const leave = useEntry(open, onClose);
  useReturn(open);
  // Escape leaves the failure first, the drawer then.
  useEscape('.call-drawer', open ? () => (opened === null ? leave() : setOpened(null)) : undefined);
  return (
    <Drawer
      rootClassName="call-drawer"
      open={open}
      size="min(760px, 100vw)"
      title={t('title', { name: applicationName })}
      closable={{ placement: 'end', 'aria-label': t('common:action.close') }}
      keyboard={false} // useEscape
      onClose={leave}
      destroyOnHidden
    >
      <CallLog applicationId={applicationId} sought={sought} opened={opened} onOpened={setOpened} />
    </Drawer>
  );
}

/** Gives the focus back to what opened the drawer. antd's own way loses it when Back has closed. */
function useReturn(open: boolean): void {
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (open) opener.current = document.activeElement; // before the drawer takes it
  }, [open]);
  useEffect(() => {
    if (!open && opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true }); // the trap is gone by now
  }, [open]);
}

/** Holds a history entry while open. Who goes back over it has closed, at whatever moment that was. */
function useEntry(open: boolean, onClose: () => void): () => void {
  const navigate = useNavigate();
  const pushed = useRef<Promise<void> | null>(null);
  const latest = useRef(onClose);
  useLayoutEffect(() => {
    latest.current = onClose;
  });
  useEffect(() => {
    if (!open) return;
    const { pathname, search, hash } = window.location; // not the one last drawn
    pushed.current ??= Promise.resolve(navigate({ pathname, search, hash }, { preventScrollReset: true }));
    const left = () => latest.current();
    window.addEventListener('popstate', left);
    return () => window.removeEventListener('popstate', left);
  }, [open, navigate]);
  return () => {
    const entry = pushed.current;
    pushed.current = null; // it is left once
    void entry?.then(() => navigate(-1));
  };
}
