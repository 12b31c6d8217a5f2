import { useEffect, useState, type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { ByHand } from './form/ByHand';
import { copyText } from './clipboard';
import { useTellFault } from './page/faultText';
import { Icon } from './Icon';

/** Copies text; for a moment its own words say so. Where the browser refuses, the text is shown to be copied by hand. */
export function Copy({
  text,
  label,
  bare = false,
  edge,
  disabled,
}: {
  text: string | (() => string | Promise<string>);
  label?: string;
  bare?: boolean;
  edge?: boolean;
  disabled?: boolean;
}) {
  const { t } = useTranslation();
  const tell = useTellFault();
  const [done, setDone] = useState(false);
  const [byHand, setByHand] = useState<{ text: string; place: Element } | null>(null);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async ({ currentTarget }: MouseEvent<HTMLElement>) => {
    const place = currentTarget.closest('[role=dialog]') ?? document.body;
    try {
      const left = await copyText(typeof text === 'string' ? text : text());
      if (left === null) setDone(true);
      else setByHand({ text: left, place });
    } catch (error) {
      tell(error);
    }
  };
  const words = done ? t('action.copied') : (label ?? t('action.copy'));
  return (
    <>
      <button
        type="button"
        className={bare ? 'quiet square' : 'quiet'}
        data-edge={edge}
        disabled={disabled}
        onClick={(event) => void copy(event)}
        aria-label={bare ? words : undefined}
        title={bare ? words : undefined}
      >
        <Icon name={done ? 'ok' : 'copy'} />
        {!bare && (
          <span className="swap" data-other={done ? (label ?? t('action.copy')) : t('action.copied')}>
            {words}
          </span>
        )}
        <span className="unseen" role="status">
          {done ? t('action.copied') : ''}
        </span>
      </button>
      {byHand !== null && <ByHand {...byHand} onClosed={() => setByHand(null)} />}
    </>
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
