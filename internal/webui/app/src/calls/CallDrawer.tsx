import '../ui/form/field.css';
import './calls.css';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import Drawer from 'antd/es/drawer';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate } from 'react-router';
import { Antd } from '../ui/page/Antd';
import { OwnEntry } from '../ui/page/PageLink';
import { useEscape } from '../ui/keys/useEscape';
import { useFocusReturn } from '../ui/keys/useFocusReturn';
import { CallLog } from './CallLog';

/**
 * The calls of one application. Nothing of it is in the URL. Opening
 * pushes an entry of the same URL, so that Back closes it.
 */
export default function CallDrawer({
  applicationId,
  applicationName,
  sought,
  open,
  onClose,
}: {
  applicationId: string;
  applicationName: string;
  sought: string | null;
  open: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const [opened, setOpened] = useState<string | null>(null);
  const leave = useEntry(open, onClose);
  useFocusReturn(open);
  // Escape leaves the failure first, the drawer then.
  useEscape('.call-drawer', open ? () => (opened === null ? leave() : setOpened(null)) : undefined);
  return (
    <Antd>
      <Drawer
        rootClassName="call-drawer"
        open={open}
        size="min(760px, 100vw)"
        title={<span title={applicationName}>{t('title', { name: applicationName })}</span>}
        closable={{ placement: 'end', 'aria-label': t('common:action.close') }}
        keyboard={false} // useEscape
        onClose={leave}
        destroyOnHidden
      >
        <OwnEntry value>
          <CallLog applicationId={applicationId} sought={sought} opened={opened} onOpened={setOpened} />
        </OwnEntry>
      </Drawer>
    </Antd>
  );
}

/** Holds a history entry while open. Who goes back over it has closed, at whatever moment that was. */
function useEntry(open: boolean, onClose: () => void): () => void {
  const navigate = useNavigate();
  const pushed = useRef<Promise<void> | null>(null);
  const left = useEffectEvent(onClose);
  useLayoutEffect(() => {
    // before its first paint: who leaves at once leaves an entry
    if (!open) return;
    const { pathname, search, hash } = window.location; // not the one last drawn
    pushed.current ??= Promise.resolve(navigate({ pathname, search, hash }, { preventScrollReset: true }));
    const popped = () => left();
    window.addEventListener('popstate', popped);
    return () => window.removeEventListener('popstate', popped);
  }, [open, navigate]);
  // A link to a place on the page below has taken the entry: there is none to go back over.
  const { key, state } = useLocation();
  const first = useRef(key);
  useEffect(() => {
    if (key === first.current || (state as { below?: boolean } | null)?.below !== true) return;
    pushed.current = null;
    left();
  }, [key, state]);
  return () => {
    const entry = pushed.current;
    pushed.current = null; // it is left once
    void entry?.then(() => navigate(-1));
  };
}
