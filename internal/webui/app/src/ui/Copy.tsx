import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/error';
import { useFaultText } from './Fault';
import { Icon } from './Icon';
import { notify } from './notice';

/** Copies text; for a moment its own words say so. */
export function Copy({ text, label, bare = false, edge, disabled }: { text: string | (() => Promise<string>); label?: string; bare?: boolean; edge?: boolean; disabled?: boolean }) {
  const { t } = useTranslation();
  const faultText = useFaultText();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      setDone(true);
    } catch (error) {
      notify('failed', error instanceof ApiError ? faultText(error).title : t('state.notCopied'));
    }
  };
  const words = done ? t('action.copied') : (label ?? t('action.copy'));
  return (
    <button type="button" className={bare ? 'quiet square' : 'quiet'} data-edge={edge} disabled={disabled} onClick={() => void copy()} aria-label={bare ? words : undefined} title={bare ? words : undefined}>
      <Icon name={done ? 'ok' : 'copy'} />
      {!bare && words}
      <span className="unseen" role="status">{done ? t('action.copied') : ''}</span>
    </button>
  );
}

/** Source text with a button to copy it. */
export function Code({ text }: { text: string }) {
  return (
    <div className="code">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} bare />
    </div>
  );
}
