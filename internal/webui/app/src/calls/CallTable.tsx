import { Fragment, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { TokenFacts } from '../tokens/TokenFacts';
import { UpstreamFacts } from './UpstreamFacts';
import { TableBones } from '../ui/Block';
import { Copy } from '../ui/Copy';
import { Tag } from '../ui/Tag';
import { KeyFact } from './KeyFact';
import type { Call } from './queries';

/** Icon and word for how a call ended; 499 says who broke off. */
export function Result({ call }: { call: Pick<Call, 'success' | 'statusCode' | 'endedBy'> }) {
  const { t } = useTranslation('calls');
  if (call.success) return <Tag kind="ok">{t('result.success')}</Tag>;
  if (call.statusCode !== 499) return <Tag kind="failed">{t('result.failure')}</Tag>;
  return <span title={t(`endedBy.${call.endedBy}`)}><Tag kind="warn">{t('result.interrupted')}</Tag></span>;
}

function Columns() {
  const { t } = useTranslation('calls');
  return (
    <thead>
      <tr>
        <th scope="col">{t('column.callId')}</th>
        <th scope="col">{t('column.time')}</th>
        <th scope="col">{t('column.model')}</th>
        <th scope="col">{t('column.result')}</th>
        <th scope="col" className="right">{t('column.status')}</th>
        <th scope="col" className="right">{t('column.duration')}</th>
      </tr>
    </thead>
  );
}

/** A page of calls before it is read. */
export const CallBones = () => (
  <>
    <div className="call-figures"><div className="bone line" /></div>
    <TableBones className="calls-table" head={<Columns />} rows={10} columns={6} />
  </>
);

/** The rows of one page (spec section 4.1 rule 7). A success unfolds, a failure opens. */
export function CallTable({ applicationId, body, calls, expanded, onExpand, onOpen }: {
  applicationId: string;
  body: RefObject<HTMLTableSectionElement | null>;
  calls: readonly Call[];
  expanded: string | null;
  onExpand: (callId: string | null) => void;
  onOpen: (callId: string) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const pick = (call: Call) => (call.success ? onExpand(expanded === call.callId ? null : call.callId) : onOpen(call.callId));
  return (
    <table className="table calls-table">
      <Columns />
      <tbody ref={body}>
        {calls.map((call) => (
          <Fragment key={call.callId}>
            <tr className="call" onClick={() => pick(call)}>
              <td>
                <button type="button" className="call-id cut" data-call={call.callId} title={call.callId} aria-label={t('open', { id: call.callId })} aria-expanded={call.success ? expanded === call.callId : undefined} onClick={(event) => { event.stopPropagation(); pick(call); }}>
                  <bdi>{call.callId}</bdi>
                </button>
              </td>
              <td className="number" title={format.exactTime(call.startTime)}>{format.time(call.startTime)}</td>
              <td className="cut" title={call.model}>{call.model === '' ? t('common:metrics.unspecified') : call.model}</td>
              <td><Result call={call} /></td>
              <td className="right">{call.statusCode}</td>
              <td className="right">{format.duration(call.durationMs)}</td>
            </tr>
            {call.success && expanded === call.callId && <tr><td className="call-more" colSpan={6}><Facts applicationId={applicationId} call={call} /></td></tr>}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function Facts({ applicationId, call }: { applicationId: string; call: Call }) {
  const { t } = useTranslation('calls');
  const format = useFormat();
  return (
    <dl className="call-facts">
      <div className="across"><dt>{t('column.callId')}</dt><dd className="mono">{call.callId} <Copy text={call.callId} bare /></dd></div>
      <div><dt>{t('fact.firstByte')}</dt><dd>{format.duration(call.firstByteMs)}</dd></div>
      <div><dt>{t('fact.streamed')}</dt><dd>{t(call.streamed ? 'fact.yes' : 'fact.no')}</dd></div>
      <div><dt>{t('fact.endedBy')}</dt><dd>{t(`endedBy.${call.endedBy}`)}</dd></div>
      <KeyFact applicationId={applicationId} call={call} />
      <UpstreamFacts call={call} />
      <TokenFacts call={call} />
    </dl>
  );
}
