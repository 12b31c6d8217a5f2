import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { Block, Empty } from '../ui/page/Block';
import { useTellFault } from '../ui/page/faultText';
import { notify } from '../ui/page/notice';
import { Pages } from '../ui/table/Pages';
import { Tag } from '../ui/Tag';
import { Secrets } from './Secrets';
import { useQuantity } from './useQuantity';
import { alertQueries, calls, LOG_SIZE, useAlertWrite, type Alert, type Delivery, type Site } from './queries';

const kinds = { delivered: 'ok', pending: 'warn', given_up: 'failed' } as const;

/** What was sent of an alert, and what became of it. */
export function Deliveries({ site, alert, onClose }: { site: Site; alert: Alert; onClose: () => void }) {
  const { t } = useTranslation(['alerts', 'common']);
  const [page, setPage] = useState(1);
  const query = useQuery(alertQueries.log(site, alert.id, page));
  return (
    <section className="alert-deliveries" aria-label={t('log', { name: alert.name })}>
      <div className="block-head">
        <h2>{t('log', { name: alert.name })}</h2>
        <button type="button" className="quiet" onClick={onClose}>
          {t('common:action.close')}
        </button>
      </div>
      <Secrets site={site} alert={alert} />
      <Block query={query} height={160}>
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty text={t('nothingSent')} />
          ) : (
            <>
              <ul className="alert-log">
                {items.map((delivery) => (
                  <Row key={delivery.id} site={site} alert={alert} of={delivery} />
                ))}
              </ul>
              <Pages page={page} total={total} size={LOG_SIZE} onPage={setPage} />
            </>
          )
        }
      </Block>
    </section>
  );
}

function Row({ site, alert, of }: { site: Site; alert: Alert; of: Delivery }) {
  const { t } = useTranslation('alerts');
  const format = useFormat();
  const quantity = useQuantity();
  const tell = useTellFault();
  const resend = useAlertWrite(() => calls[site].resend(alert.id, of.id));
  const again = () => resend.mutate(undefined, { onSuccess: () => notify('ok', t('resent')), onError: tell });
  const why = of.error === null ? '' : t(`errors.${of.error}`, { status: String(of.lastStatus ?? '') });
  return (
    <li>
      <div className="alert-log-line">
        <strong>
          {of.sequence === null ? t('events.test') : t('numbered', { event: t(`events.${of.event}`), n: String(of.sequence) })}
        </strong>
        <Tag kind={kinds[of.status]}>{t(`deliveryStatus.${of.status}`)}</Tag>
        <span className="grow" />
        <span className="meta number" title={format.exactTime(of.at)}>
          {format.time(of.at)}
        </span>
      </div>
      <p className="second alert-log-text">
        {t(`channelKinds.${of.channelKind}`)} · <span className="mono">{of.destination}</span>
        {of.figures.day !== null && <> · {of.figures.day}</>}
        {of.measured !== null && <> · {quantity(alert, of.measured)}</>} · {t('attempts', { n: String(of.attempts) })}
        {why !== '' && <> · {why}</>}
        {of.nextAttemptAt !== null && of.attempts > 0 && <> · {t('next', { at: format.time(of.nextAttemptAt) })}</>}
      </p>
      {of.channelId !== null && (
        <button type="button" className="quiet" data-edge disabled={resend.isPending} onClick={again}>
          {t('resend')}
        </button>
      )}
    </li>
  );
}
