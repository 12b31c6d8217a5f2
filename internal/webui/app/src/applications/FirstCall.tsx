import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { everyCall } from '../calls/filter';
import { callQueries, type Call } from '../calls/queries';
import { Verdict } from '../calls/Verdict';
import { useFormat } from '../format/useFormat';
import { today } from '../range/days';
import { useBase } from '../session/Base';
import { Icon } from '../ui/Icon';
import { PageLink } from '../ui/page/PageLink';

/** Waits for an application's first call of today, and says how the newest one went: what it took, or why it failed and what to do. */
export default function FirstCall({ applicationId }: { applicationId: string }) {
  const { t } = useTranslation('applications');
  const filter = everyCall(today());
  const { data } = useQuery(
    callQueries.page({ applicationId }, filter, { page: 1, until: null }, { holdsToday: true, live: true, sought: null }),
  );
  const call = data?.items[0];
  return (
    <div className="first-call" role="status" aria-busy={call === undefined}>
      {call === undefined ? (
        <p className="second">
          <i className="waiting" aria-hidden="true" /> {t('first.waiting')}
        </p>
      ) : (
        <Outcome applicationId={applicationId} call={call} />
      )}
    </div>
  );
}

function Outcome({ applicationId, call }: { applicationId: string; call: Call }) {
  const { t } = useTranslation('applications');
  const format = useFormat();
  const ok = call.success;
  return (
    <>
      <p className="bar" data-kind={ok ? 'ok' : 'failed'}>
        <Icon name={ok ? 'ok' : 'failed'} />
        <span>{t(ok ? 'first.ok' : 'first.failed', { status: String(call.statusCode), time: format.duration(call.durationMs) })}</span>
        <PageLink className="quiet" data-edge to={`/applications/${applicationId}`} state={{ log: call.callId }}>
          {t('log')}
        </PageLink>
      </p>
      {!ok && <Why applicationId={applicationId} callId={call.callId} />}
    </>
  );
}

function Why({ applicationId, callId }: { applicationId: string; callId: string }) {
  const base = useBase();
  const { data } = useQuery(callQueries.detail(applicationId, callId));
  return data ? <Verdict applicationId={applicationId} call={data} base={base} /> : null;
}
