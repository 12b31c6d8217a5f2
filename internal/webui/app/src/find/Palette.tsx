import '../ui/form/field.css';
import './find.css';
import { useDeferredValue, useId, useState, type KeyboardEvent } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { capabilityQueries } from '../capabilities/queries';
import { sections } from '../capabilities/search';
import { useFormat } from '../format/useFormat';
import { composing } from '../ui/form/composing';
import { Icon, type IconName } from '../ui/Icon';
import { read } from './asked';
import { findQueries } from './queries';
import { useModal } from './useModal';

interface Found {
  key: string;
  icon: IconName;
  text: string;
  note: string;
  go: string;
}

const MOST = 8; // of each kind

/** One field for what somebody has at hand: a call id, a trace id, or a name; arrows choose, Enter goes there. */
export default function Palette({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const { t } = useTranslation();
  const id = useId();
  const dialog = useModal();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { found, busy } = useFound(text);
  const chosen = Math.min(at, found.length - 1);
  const go = (one: Found | undefined) => {
    if (!one) return;
    onClose();
    void navigate(one.go);
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
            aria-label={t('find.label')}
            placeholder={t('find.label')}
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
        <ul id={`${id}-list`} role="listbox" aria-label={t('find.results')} className="palette-list">
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
          <span>
            {text.trim() === '' ? t('find.what') : found.length > 0 ? t('find.how') : busy ? t('state.loading') : t('find.nothing')}
          </span>
          <button type="button" className="quiet" onClick={onShortcuts}>
            {t('keys.title')}
          </button>
        </p>
      </div>
    </dialog>
  );
}

/** What there is under a text: what an id leads to is known at once, the rest is asked for. */
function useFound(text: string): { found: Found[]; busy: boolean } {
  const { t } = useTranslation(['common', 'calls']);
  const format = useFormat();
  const asked = read(useDeferredValue(text));
  const now = read(text);
  const [trace] = asked.traces;
  const named = asked.words !== '';
  const calls = useQuery({ ...findQueries.trace(trace ?? ''), enabled: trace !== undefined });
  const applications = useQuery({
    ...findQueries.applications(asked.words),
    enabled: named && trace === undefined,
    placeholderData: keepPreviousData,
  });
  const capabilities = useQuery({ ...capabilityQueries.list(), enabled: named });
  const found: Found[] = now.ids.map((id) => ({ key: `call ${id}`, icon: 'audit', text: id, note: t('find.call'), go: `/calls/${id}` }));
  if (trace !== undefined)
    for (const call of (calls.data ?? []).slice(0, MOST))
      found.push({
        key: call.callId,
        icon: call.success ? 'ok' : 'failed',
        text: `${call.application.name} · ${call.model || t('metrics.unspecified')} · ${call.statusCode}`,
        note: format.time(call.startTime),
        go: `/calls/${call.callId}`,
      });
  if (named) {
    // Those of the text before stand until the new ones are there, as far as they still fit.
    for (const { id, name } of trace === undefined ? (applications.data ?? []) : [])
      if (fits(now.words, name, id))
        found.push({ key: `application ${id}`, icon: 'applications', text: name, note: t('find.application'), go: `/applications/${id}` });
    for (const { id, name } of sections(capabilities.data ?? [], [], now.words)
      .flatMap(({ items }) => items)
      .slice(0, MOST))
      found.push({
        key: `capability ${id}`,
        icon: 'capabilities',
        text: name,
        note: name === id ? t('find.capability') : `${t('find.capability')} · ${id}`,
        go: `/capabilities/${encodeURIComponent(id)}`,
      });
  }
  return { found, busy: calls.isFetching || applications.isFetching || capabilities.isFetching || asked.words !== now.words };
}

const fits = (words: string, ...texts: string[]): boolean => texts.some((text) => text.toLowerCase().includes(words.toLowerCase()));
