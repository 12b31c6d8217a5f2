import { useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { useTranslation } from 'react-i18next';

/** The text that the browser would not copy, selected, so that Ctrl+C or a long press does. */
export function ByHand({ text, place, onClosed }: { text: string; place: Element; onClosed: () => void }) {
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    field.current?.select();
    const left = () => document.hidden && dialog.current?.close(); // it may be a key
    document.addEventListener('visibilitychange', left);
    return () => document.removeEventListener('visibilitychange', left);
  }, []);
  return createPortal(
    <dialog
      ref={dialog}
      role="dialog"
      className="by-hand"
      aria-label={t('copy.title')}
      onClose={onClosed}
      onClick={(event) => event.stopPropagation()}
    >
      <p>{t('copy.byHand')}</p>
      <textarea
        ref={field}
        className="mono"
        readOnly
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        aria-label={t('copy.text')}
        onFocus={(event) => event.target.select()}
      />
      <button type="button" className="quiet" data-edge onClick={() => dialog.current?.close()}>
        {t('action.close')}
      </button>
    </dialog>,
    place,
  );
}
