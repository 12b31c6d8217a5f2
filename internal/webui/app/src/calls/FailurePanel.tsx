import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { written } from '../json/exact';
import { useBase } from '../session/Base';
import { configQueries } from '../session/queries';
import { TokenFacts } from '../tokens/TokenFacts';
import { UpstreamFacts } from './UpstreamFacts';
import { Block } from '../ui/page/Block';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { PageLink } from '../ui/page/PageLink';
import { replayPath } from '../playground/replay';
import { CallIdFact } from './CallIdFact';
import { Result } from './Result';
import { DimensionFacts } from './DimensionFacts';
import { curl, FOLDED, lines } from './json';
import { KeyFact } from './KeyFact';
import { Panel } from './Panel';
import { callQueries, type FailedCall } from './queries';
import { Verdict } from './Verdict';

/** Why one call failed, what was asked, and the click that mends it. */
export function FailurePanel({
  applicationId,
  callId,
  onBack,
  onNext,
  onPrevious,
}: {
  applicationId: string;
  callId: string;
  onBack: () => void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const query = useQuery(callQueries.detail(applicationId, callId));
  return (
    <Panel
      callId={callId}
      title={t('failure.title')}
      previous={t('failure.previous')}
      next={t('failure.next')}
      onBack={onBack}
      onPrevious={onPrevious}
      onNext={onNext}
    >
      <Block query={query} height={480}>
        {(call) => <Detail key={callId} applicationId={applicationId} call={call} />}
      </Block>
    </Panel>
  );
}

/** A failed call: verdict, facts, and what was asked. `here`: on a page of its own. */
export function Detail({ applicationId, call, here = false }: { applicationId: string; call: FailedCall; here?: boolean }) {
  const { t } = useTranslation(['calls', 'common']);
  const { failure } = call;
  const { data: config } = useQuery(configQueries.get());
  const base = useBase();
  return (
    <div className="stack">
      <Verdict applicationId={applicationId} call={call} base={base} />
      <Facts applicationId={applicationId} call={call} here={here} />
      {!failure.collected ? (
        <div className="bar" data-kind="warn">
          {t('failure.notCollected')}
        </div>
      ) : (
        <>
          <section className="failure-part" aria-label={t('failure.query')}>
            <h2>{t('failure.query')}</h2>
            {failure.query !== null && Object.keys(failure.query).length > 0 ? (
              <Json text={JSON.stringify(failure.query, null, 2)} />
            ) : (
              <p className="second">
                {failure.bodyNote === 'expired'
                  ? t('failure.queryExpired', { days: String(config?.failureRetentionDays ?? '') })
                  : t('failure.noQuery')}
              </p>
            )}
          </section>
          <section className="failure-part" aria-label={t('failure.body')}>
            <h2>{t('failure.body')}</h2>
            {failure.bodyNote === null ? (
              <Json text={written(call.body, 2)} />
            ) : (
              <p className="second">{t(`note.${failure.bodyNote}`, { days: String(config?.failureRetentionDays ?? '') })}</p>
            )}
          </section>
          {failure.request && (
            <div className="row">
              <Copy
                disabled={base === undefined}
                text={() => curl(base ?? '', failure.request!, failure.query, failure.bodyNote === null ? written(call.body) : null)}
                label={t('failure.curl')}
              />
              {call.model !== '' && (
                <PageLink className="quiet" data-edge to={replayPath(applicationId, call)}>
                  <Icon name="retry" /> {t('failure.replay')}
                </PageLink>
              )}
              <span className="meta">{t('failure.curlHint')}</span>
            </div>
          )}
        </>
      )}
    </div>
  );
}

function Facts({ applicationId, call, here }: { applicationId: string; call: FailedCall; here: boolean }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const { reason, request } = call.failure;
  return (
    <dl className="call-facts">
      <CallIdFact applicationId={applicationId} callId={call.callId} here={here} />
      <div>
        <dt>{t('column.time')}</dt>
        <dd className="number" title={format.exactTime(call.startTime)}>
          {format.time(call.startTime)}
        </dd>
      </div>
      <div>
        <dt>{t('column.model')}</dt>
        <dd>{call.model === '' ? t('common:metrics.unspecified') : call.model}</dd>
      </div>
      <div>
        <dt>{t('column.result')}</dt>
        <dd>
          <Result call={call} />
        </dd>
      </div>
      <div>
        <dt>{t('column.status')}</dt>
        <dd>{call.statusCode}</dd>
      </div>
      <div>
        <dt>{t('fact.reason')}</dt>
        <dd>{reason ? t(`type.${reason.type}`) : '—'}</dd>
      </div>
      <div>
        <dt>{t('fact.upstreamStatus')}</dt>
        <dd>{reason?.upstreamStatus ?? '—'}</dd>
      </div>
      <div>
        <dt>{t('column.duration')}</dt>
        <dd>{format.duration(call.durationMs)}</dd>
      </div>
      <div>
        <dt>{t('fact.firstByte')}</dt>
        <dd>{format.duration(call.firstByteMs)}</dd>
      </div>
      <div>
        <dt>{t('fact.endedBy')}</dt>
        <dd>{t(`endedBy.${call.endedBy}`)}</dd>
      </div>
      <KeyFact applicationId={applicationId} call={call} />
      <DimensionFacts applicationId={applicationId} call={call} />
      <UpstreamFacts call={call} />
      {((call.usageState !== null && call.usageState !== 'none') || call.estimatedTokens !== null) && <TokenFacts call={call} />}
      {request && (
        <div className="across">
          <dt>{t('fact.request')}</dt>
          <dd className="mono">
            {request.method} {request.path}
          </dd>
        </div>
      )}
    </dl>
  );
}

function Json({ text: json }: { text: string }) {
  const { t } = useTranslation('calls');
  const [folded, setFolded] = useState(true);
  const all = lines(json);
  const shown = folded ? all.slice(0, FOLDED) : all;
  return (
    <div className="code json">
      <pre tabIndex={0}>
        {shown.map((line, n) => (
          <span key={n}>
            {line.map(([kind, text], at) => (
              <span key={at} data-kind={kind}>
                {text}
              </span>
            ))}
            {'\n'}
          </span>
        ))}
      </pre>
      <Copy text={json} bare />
      {all.length > FOLDED && (
        <button type="button" className="fold" onClick={() => setFolded(!folded)}>
          {folded ? t('failure.showAll', { n: String(all.length) }) : t('failure.fold')}
        </button>
      )}
    </div>
  );
}
