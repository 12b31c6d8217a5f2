import '../ui/form/field.css';
import { lazy, Suspense, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Copy } from '../ui/Copy';
import { useTellFault } from '../ui/page/faultText';
import { notify } from '../ui/page/notice';
import { useSecret } from './useSecret';
import { useWrites } from './writes';

const Confirm = lazy(() => import('../ui/form/Confirm'));

/** For how many hours the old key may stay valid. Programs need time to take the new one, so it stays for a day unless said otherwise. */
const OVERLAPS = [0, 1, 24, 72];
const USUAL_OVERLAP = 24;

/** The masked key of an application: shown, copied or replaced on request. */
export function AccessKey({
  id,
  name,
  masked,
  first = null,
  lasting = false,
}: {
  id: string;
  name: string;
  masked: string;
  /** Shown from the start: the key of an application just created. */
  first?: string | null;
  /** Without a way to replace it. */
  lasting?: boolean;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const tell = useTellFault();
  const writes = useWrites();
  const [secret, setSecret] = useSecret(first);
  const [busy, setBusy] = useState(false);
  const [rotating, setRotating] = useState(false);
  const [overlap, setOverlap] = useState(USUAL_OVERLAP);
  const select = useId();
  const show = async () => {
    setBusy(true);
    try {
      setSecret(await writes.reveal(id));
    } catch (error) {
      tell(error);
    }
    setBusy(false);
  };
  const rotate = async () => {
    setSecret(await writes.rotate(id, overlap));
    notify('ok', t(overlap === 0 ? 'secret.rotated' : 'secret.rotatedSlowly', { n: String(overlap) }));
  };
  return (
    <div className="key-line">
      <span className="second">{t('key')}</span>
      <code className="key" data-shown={secret !== null} aria-live="polite">
        {secret ?? masked}
      </code>
      <span className="row">
        <button type="button" className="quiet" disabled={busy} onClick={() => (secret === null ? void show() : setSecret(null))}>
          {t(secret === null ? 'secret.show' : 'secret.hide')}
        </button>
        <Copy text={() => secret ?? writes.reveal(id)} label={t('secret.copy')} />
        {!lasting && (
          <button
            type="button"
            className="quiet"
            onClick={() => {
              setOverlap(USUAL_OVERLAP);
              setRotating(true);
            }}
          >
            {t('secret.rotate')}
          </button>
        )}
      </span>
      <span className="meta">{secret !== null && t('secret.soon')}</span>
      {rotating && (
        <Suspense>
          <Confirm
            title={t('ask.rotate', { name })}
            text={t(overlap === 0 ? 'ask.rotateText' : 'ask.rotateSlowly', { n: String(overlap) })}
            action={t('secret.rotate')}
            run={rotate}
            onClosed={() => setRotating(false)}
          >
            <div className="field">
              <label htmlFor={select}>{t('ask.overlap')}</label>
              <select id={select} className="select" value={overlap} onChange={(event) => setOverlap(Number(event.target.value))}>
                {OVERLAPS.map((hours) => (
                  <option key={hours} value={hours}>
                    {hours === 0 ? t('ask.noOverlap') : t('ask.hours', { n: String(hours) })}
                  </option>
                ))}
              </select>
            </div>
          </Confirm>
        </Suspense>
      )}
    </div>
  );
}
