import './verdict.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Navigate, useLocation } from 'react-router';
import { ApiError } from '../api/error';
import { useFormat } from '../format/useFormat';
import { Block, Empty } from '../ui/page/Block';
import { Icon } from '../ui/Icon';
import { Facts } from './CallTable';
import { Detail } from './FailurePanel';
import { Panel } from './Panel';
import { callQueries, type OwnCall } from './queries';

/** A call of the list, whatever became of it, in the list's place. */
export function OwnCallPanel({
  applicationId,
  callId,
  onBack,
  onPrevious,
  onNext,
}: {
  /** Null: of whichever own application. */
  applicationId: string | null;
  callId: string;
  onBack: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}) {
  const { t } = useTranslation('calls');
  const { search } = useLocation();
  const query = useQuery(callQueries.own(callId));
  if (query.data && applicationId !== null && query.data.application.id !== applicationId)
    return <Navigate to={`/applications/${query.data.application.id}/calls/${callId}${search}`} replace />;
  return (
    <Panel
      callId={callId}
      title={t('page.one')}
      previous={t('page.previous')}
      next={t('page.next')}
      onBack={onBack}
      onPrevious={onPrevious}
      onNext={onNext}
    >
      {isGone(query.error) ? (
        <Gone />
      ) : (
        <Block query={query} height={480}>
          {(call) => <OwnCallDetail key={callId} call={call} />}
        </Block>
      )}
    </Panel>
  );
}

export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** There is no such call, or it is another's: the answer is the same. */
export function Gone() {
  const { t } = useTranslation('calls');
  return <Empty text={t('page.gone')} />;
}

/** Why it failed, or the facts of its success. */
export function OwnCallDetail({ call }: { call: OwnCall }) {
  const { t } = useTranslation('calls');
  const format = useFormat();
  const { failure } = call;
  if (failure !== null) return <Detail applicationId={call.application.id} call={{ ...call, success: false, failure }} here />;
  return (
    <div className="stack">
      <div className="verdict" data-kind="ok">
        <p>
          <Icon name="ok" /> {t('page.succeeded', { status: String(call.statusCode), duration: format.duration(call.durationMs) })}
        </p>
      </div>
      <Facts applicationId={call.application.id} call={call} whole />
    </div>
  );
}
