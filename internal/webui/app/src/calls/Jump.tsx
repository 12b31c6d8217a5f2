import { useId, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { instantOf } from './timeOfDay';

/** A field for a time of day; `onJump` is told the instant it means on the day, and ends when the page is there. */
export function Jump({ day, onJump }: { day: string; onJump: (instant: string) => Promise<void> }) {
  const { t } = useTranslation('calls');
  const id = useId();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const instant = instantOf(day, text);
    setWrong(instant === null);
    if (instant === null || busy) return;
    setBusy(true);
    void onJump(instant).finally(() => setBusy(false));
  };
  return (
    <form className="jump" noValidate aria-busy={busy} onSubmit={submit}>
      <label className="meta" htmlFor={id}>{t('jump.label')}</label>
      <input id={id} className="input" inputMode="numeric" autoComplete="off" placeholder="14:03" maxLength={8} value={text} aria-invalid={wrong} aria-describedby={`${id}-fault`} onChange={(event) => { setWrong(false); setText(event.target.value); }} />
      <button type="submit" className="quiet" data-edge>{t('jump.go')}</button>
      <p id={`${id}-fault`} className="fault-line meta" role="alert">{wrong ? t('jump.wrong') : ''}</p>
    </form>
  );
}
