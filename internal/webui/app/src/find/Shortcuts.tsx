import '../ui/form/field.css';
import './find.css';
import { useTranslation } from 'react-i18next';
import { chooseSingleKeys, useSingleKeys } from '../ui/page/preferences';
import { commandKey } from './commandKey';
import type { Site } from '../session/session';
import { useModal } from './useModal';
import { words } from './words';

const groups = [
  [
    'everywhere',
    [
      ['/', 'find'],
      ['?', 'keys'],
      ['Esc', 'close'],
    ],
  ],
  [
    'range',
    [
      ['W T', 'days'],
      ['M L', 'months'],
      ['C', 'custom'],
      ['X', 'compare'],
      ['← →', 'shift'],
    ],
  ],
  [
    'calls',
    [
      ['J K', 'rows'],
      ['↵', 'open'],
      ['D E', 'steps'],
    ],
  ],
  ['applications', [['N', 'create']]],
  ['capabilities', [['/', 'search']]],
  ['order', [['Alt ↑ ↓', 'move']]],
] as const;

const ofSite: Record<Site, readonly (typeof groups)[number][0][]> = {
  console: ['everywhere', 'range', 'calls', 'applications', 'capabilities'],
  office: ['everywhere', 'range', 'order'],
};

/** Which keys of a site do what, and whether they do. */
export default function Shortcuts({ site, onClose }: { site: Site; onClose: () => void }) {
  const { t } = useTranslation();
  const dialog = useModal();
  const on = useSingleKeys();
  return (
    <dialog
      ref={dialog}
      role="dialog"
      className="palette shortcuts"
      aria-label={t('keys.title')}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="palette-box">
        <h2>{t('keys.title')}</h2>
        <label className="check">
          <input type="checkbox" checked={on} onChange={(event) => chooseSingleKeys(event.target.checked)} />
          {words.keys.single}
        </label>
        <p className="meta">{words.keys.always.replace('{{key}}', commandKey())}</p>
        <div className="shortcut-groups" data-off={!on}>
          {groups
            .filter(([group]) => ofSite[site].includes(group))
            .map(([group, keys]) => (
              <section key={group} aria-label={words.keys.group[group]}>
                <h2>{words.keys.group[group]}</h2>
                <dl>
                  {keys.map(([key, what]) => (
                    <div key={what}>
                      <dt>
                        <kbd>{key}</kbd>
                      </dt>
                      <dd>{words.keys[what]}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
        </div>
        <button type="button" className="quiet" data-edge onClick={onClose}>
          {t('action.close')}
        </button>
      </div>
    </dialog>
  );
}
