import '../ui/form/field.css';
import './find.css';
import { useId, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { composing } from '../ui/form/composing';
import { Icon } from '../ui/Icon';
import type { Found } from './found';
import { useModal } from './useModal';
import { words } from './words';

/** One field for what somebody has at hand: an id, a name, or what they want to do; arrows choose, Enter does it. `useFound` is what a site offers. */
export function Palette({
  useFound,
  nothing,
  onClose,
  onShortcuts,
}: {
  useFound: (text: string, onShortcuts: () => void) => { found: Found[]; busy: boolean };
  nothing: string;
  onClose: () => void;
  onShortcuts: () => void;
}) {
  const { t } = useTranslation();
  const id = useId();
  const dialog = useModal();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { found, busy } = useFound(text, onShortcuts);
  const chosen = Math.min(at, found.length - 1);
  const go = (one: Found | undefined) => {
    if (!one) return;
    onClose();
    if (typeof one.go === 'string') void navigate(one.go);
    else one.go();
  };
  const keys = (event: KeyboardEvent) => {
    if (composing(event.nativeEvent)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step === undefined) go(found[chosen]);
    else if (found.length > 0) {
      const next = (chosen + step + found.length) % found.length;
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    }
  };
  return (
    <dialog
      ref={dialog}
      role="dialog"
      className="palette"
      aria-label={t('find.open')}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="palette-box">
        <div className="search">
          <Icon name="search" />
          <input
            className="input"
            type="text"
            role="combobox"
            autoFocus
            autoComplete="off"
            spellCheck={false}
            aria-label={words.label}
            placeholder={words.label}
            aria-expanded={found.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setAt(0);
            }}
            onKeyDown={keys}
          />
        </div>
        <ul id={`${id}-list`} role="listbox" aria-label={words.results} className="palette-list">
          {found.map((one, n) => (
            <li
              key={one.key}
              id={`${id}-${n}`}
              role="option"
              aria-selected={n === chosen}
              onPointerMove={() => setAt(n)}
              onClick={() => go(one)}
            >
              <Icon name={one.icon} />{' '}
              <span className="cut" title={one.text}>
                {one.text}
              </span>{' '}
              <span className="meta cut">{one.note}</span>
            </li>
          ))}
        </ul>
        <p className="meta palette-foot" role="status">
          <span>{text.trim() === '' ? words.what : found.length > 0 ? words.how : busy ? t('state.loading') : nothing}</span>
          <button type="button" className="quiet" onClick={onShortcuts}>
            {t('keys.title')}
          </button>
        </p>
      </div>
    </dialog>
  );
}
