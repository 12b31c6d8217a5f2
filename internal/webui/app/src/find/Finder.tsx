import { lazy, Suspense, useEffectEvent, useLayoutEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { composing } from '../ui/form/composing';
import { Icon } from '../ui/Icon';
import { commandKey } from './commandKey';
import type { Site } from '../session/session';
import { singleKeysOn } from '../ui/page/preferences';
import { standing } from '../ui/standing';

const palettes = { console: lazy(() => import('./ConsolePalette')), office: lazy(() => import('../office/find/OfficePalette')) };
const Shortcuts = lazy(() => import('./Shortcuts'));

export type Opened = 'palette' | 'shortcuts' | null;

/** The search and the list of keys, each fetched when it is first asked for: Ctrl or ⌘ with K, `/` and `?`. */
export function Finder({ site, open, onOpen }: { site: Site; open: Opened; onOpen: (open: Opened) => void }) {
  const Palette = palettes[site];
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || composing(event)) return;
    if ((event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault(); // the browser's own search
      return onOpen(open === 'palette' ? null : 'palette');
    }
    if (event.metaKey || event.ctrlKey || event.altKey || !singleKeysOn() || standing('[role=dialog]').length > 0) return;
    const at = event.target instanceof Element ? event.target : null;
    if (at?.closest('input, textarea, select, [contenteditable=true], [role=menu], [role=listbox]')) return;
    const asked = ({ '/': 'palette', '?': 'shortcuts' } as const)[event.key];
    if (!asked) return;
    event.preventDefault();
    onOpen(asked);
  });
  useLayoutEffect(() => {
    // at once: a key may come before other effects run
    // On the window, after the document: a page's own key of the same name goes first.
    const pressed = (event: KeyboardEvent) => press(event);
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
  const close = () => onOpen(null);
  return (
    <Suspense fallback={null}>
      {open === 'palette' && <Palette onClose={close} onShortcuts={() => onOpen('shortcuts')} />}
      {open === 'shortcuts' && <Shortcuts site={site} onClose={close} />}
    </Suspense>
  );
}

/** The search as something to be seen and clicked. */
export function FindButton({ onOpen }: { onOpen: () => void }) {
  const { t } = useTranslation();
  const [key] = useState(commandKey);
  return (
    <button type="button" className="place find" aria-keyshortcuts="Control+K Meta+K /" title={t('find.hint')} onClick={onOpen}>
      <Icon name="search" size={20} />
      <span className="words grow">{t('find.open')}</span>
      <kbd className="words">{key}</kbd>
    </button>
  );
}
