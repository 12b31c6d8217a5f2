import { useId, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { instantIn } from './timeOfDay';

/** A field for a time of day; `onJump` is told the instant it means in these days, and ends when the page is there. */
export function Jump({ start, end, onJump }: { start: string; end: string; onJump: (instant: string) => Promise<void> }) {
  const { t } = useTranslation('calls');
  const id = useId();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const instant = instantIn(start, end, text);
    setWrong(instant === null);
    if (instant === null || busy) return;
    setBusy(true);
    void onJump(instant).finally(() => setBusy(false));
  };
  return (
    <form className="jump" data-dated={start !== end} noValidate aria-busy={busy} onSubmit={submit}>
      <label className="meta" htmlFor={id}>
        {t('jump.label')}
      </label>
      <input
        id={id}
        className="input"
        inputMode={start === end ? 'numeric' : 'text'}
        autoComplete="off"
        placeholder={start === end ? '14:03' : `${end.slice(5)} 14:03`}
        maxLength={start === end ? 8 : 19}
        value={text}
        aria-invalid={wrong}
        aria-describedby={`${id}-fault`}
        onChange={(event) => {
          setWrong(false);
          setText(event.target.value);
        }}
      />
      <button type="submit" className="quiet" data-edge>
        {t('jump.go')}
      </button>
      <p id={`${id}-fault`} className="fault-line meta" role="alert">
        {wrong ? t(start === end ? 'jump.wrong' : 'jump.wrongDay') : ''}
      </p>
    </form>
  );
}
