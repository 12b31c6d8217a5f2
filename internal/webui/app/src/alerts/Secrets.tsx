import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { Copy } from '../ui/Copy';
import { useTellFault } from '../ui/page/faultText';
import { notify } from '../ui/page/notice';
import { calls, useAlertWrite, type Alert, type Channel, type Site } from './queries';

/** The secrets that webhooks are signed with: shown on request, and replaced while the former one signs too. */
export function Secrets({ site, alert }: { site: Site; alert: Alert }) {
  const hooks = alert.channels.filter(({ kind }) => kind === 'webhook');
  if (hooks.length === 0) return null;
  return (
    <ul className="alert-secrets">
      {hooks.map((channel) => (
        <Secret key={channel.id} site={site} alert={alert} of={channel} />
      ))}
    </ul>
  );
}

function Secret({ site, alert, of }: { site: Site; alert: Alert; of: Channel }) {
  const { t } = useTranslation('alerts');
  const format = useFormat();
  const tell = useTellFault();
  const [shown, setShown] = useState<string | null>(null);
  const show = useAlertWrite(() => calls[site].secret(alert.id, of.id));
  const rotate = useAlertWrite(() => calls[site].rotate(alert.id, of.id));
  const at = of.destination;
  return (
    <li>
      <span className="mono">{at}</span>
      <code className="alert-secret" aria-live="polite">
        {shown ?? 'whsec_…'}
      </code>
      <button
        type="button"
        className="quiet"
        aria-label={t(shown === null ? 'showSecret' : 'hideSecret', { at })}
        onClick={() =>
          shown === null ? show.mutate(undefined, { onSuccess: ({ secret }) => setShown(secret), onError: tell }) : setShown(null)
        }
      >
        {t(shown === null ? 'show' : 'hide')}
      </button>
      <Copy bare text={async () => shown ?? (await calls[site].secret(alert.id, of.id)).secret} label={t('copySecret', { at })} />
      <button
        type="button"
        className="quiet"
        disabled={rotate.isPending}
        aria-label={t('rotateSecret', { at })}
        onClick={() =>
          rotate.mutate(undefined, {
            onSuccess: ({ secret }) => {
              setShown(secret);
              notify('ok', t('rotated'));
            },
            onError: tell,
          })
        }
      >
        {t('rotate')}
      </button>
      {of.formerSecretUntil !== null && <span className="meta">{t('former', { at: format.time(of.formerSecretUntil) })}</span>}
    </li>
  );
}
