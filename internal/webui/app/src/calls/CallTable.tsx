import { Fragment, type MouseEvent, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useFormat } from '../format/useFormat';
import { TokenFacts } from '../tokens/TokenFacts';
import { UpstreamFacts } from './UpstreamFacts';
import { TableBones } from '../ui/page/Block';
import { Tag } from '../ui/Tag';
import { CallIdFact } from './CallIdFact';
import { DimensionFacts } from './DimensionFacts';
import { KeyFact } from './KeyFact';
import type { Call } from './queries';
import { useReasonText } from './useReasonText';

/** Icon and word for how a call ended; 499 says who broke off. */
export function Result({ call }: { call: Pick<Call, 'success' | 'statusCode' | 'endedBy'> }) {
  const { t } = useTranslation('calls');
  if (call.success) return <Tag kind="ok">{t('result.success')}</Tag>;
  if (call.statusCode !== 499) return <Tag kind="failed">{t('result.failure')}</Tag>;
  return (
    <span title={t(`endedBy.${call.endedBy}`)}>
      <Tag kind="warn">{t('result.interrupted')}</Tag>
    </span>
  );
}

function Columns({ full }: { full: boolean }) {
  const { t } = useTranslation('calls');
  return (
    <thead>
      <tr>
        <th scope="col">{t('column.callId')}</th>
        <th scope="col">{t('column.time')}</th>
        <th scope="col">{t('column.model')}</th>
        <th scope="col">{t('column.result')}</th>
        <th scope="col" className="right">
          {t('column.status')}
        </th>
        {full && <th scope="col">{t('fact.reason')}</th>}
        <th scope="col" className="right">
          {t('column.duration')}
        </th>
      </tr>
    </thead>
  );
}

const COLUMNS = 6;
const classOf = (full: boolean) => (full ? 'calls-table full' : 'calls-table');

/** A page of calls before it is read. */
export const CallBones = ({ full }: { full: boolean }) => (
  <>
    <div className="call-figures">
      <div className="bone line" />
    </div>
    <TableBones roomy={full} className={classOf(full)} head={<Columns full={full} />} rows={10} columns={full ? COLUMNS + 1 : COLUMNS} />
  </>
);

interface Rows {
  body: RefObject<HTMLTableSectionElement | null>;
  calls: readonly Call[];
}

/** The rows of one page. A success unfolds, a failure opens. */
export function CallTable({
  applicationId,
  body,
  calls,
  expanded,
  onExpand,
  onOpen,
}: Rows & {
  applicationId: string;
  expanded: string | null;
  onExpand: (callId: string | null) => void;
  onOpen: (callId: string) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const pick = (call: Call) => (call.success ? onExpand(expanded === call.callId ? null : call.callId) : onOpen(call.callId));
  return (
    <table className={`table ${classOf(false)}`}>
      <Columns full={false} />
      <tbody ref={body}>
        {calls.map((call) => (
          <Fragment key={call.callId}>
            <tr className="call" onClick={() => pick(call)}>
              <td>
                <button
                  type="button"
                  className="call-id cut"
                  data-call={call.callId}
                  title={call.callId}
                  aria-label={t('open', { id: call.callId })}
                  aria-expanded={call.success ? expanded === call.callId : undefined}
                  onClick={(event) => {
                    event.stopPropagation();
                    pick(call);
                  }}
                >
                  <bdi>{call.callId}</bdi>
                </button>
              </td>
              <td className="number" title={format.exactTime(call.startTime)}>
                {format.time(call.startTime)}
              </td>
              <Rest call={call} full={false} />
            </tr>
            {call.success && expanded === call.callId && (
              <tr>
                <td className="call-more" colSpan={COLUMNS}>
                  <Facts applicationId={applicationId} call={call} />
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

/** The same on a page of its own: every call is a link, failures say why, and a day is said once. */
export function CallPageTable({ body, calls, hrefOf, from }: Rows & { hrefOf: (callId: string) => string; from: string }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const navigate = useNavigate();
  const dayOf = (call: Call) => format.time(call.startTime).slice(0, 10);
  const open = (event: MouseEvent, call: Call) => {
    if (event.target instanceof Element && event.target.closest('a')) return; // the link does it, in a new tab if asked to
    if ((window.getSelection()?.toString() ?? '') === '') void navigate(hrefOf(call.callId), { state: { list: from } });
  };
  return (
    <table className={`table ${classOf(true)}`}>
      <Columns full />
      <tbody ref={body}>
        {calls.map((call, n) => (
          <Fragment key={call.callId}>
            {(n === 0 || dayOf(call) !== dayOf(calls[n - 1]!)) && (
              <tr className="call-day">
                <th scope="rowgroup" colSpan={COLUMNS + 1}>
                  {dayOf(call)} {format.weekday(dayOf(call))}
                </th>
              </tr>
            )}
            <tr className="call" onClick={(event) => open(event, call)}>
              <td>
                <Link
                  className="call-id cut"
                  data-call={call.callId}
                  title={call.callId}
                  aria-label={t('open', { id: call.callId })}
                  to={hrefOf(call.callId)}
                  state={{ list: from }}
                >
                  <bdi>{call.callId}</bdi>
                </Link>
              </td>
              <td className="number" title={format.exactTime(call.startTime)}>
                {format.clock(call.startTime)}
              </td>
              <Rest call={call} full />
            </tr>
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function Rest({ call, full }: { call: Call; full: boolean }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const reason = useReasonText();
  return (
    <>
      <td className="cut" title={call.model}>
        {call.model === '' ? t('common:metrics.unspecified') : call.model}
      </td>
      <td>
        <Result call={call} />
      </td>
      <td className="right">{call.statusCode}</td>
      {full && <td className="call-reason cut">{call.reason ? reason(call.reason) : ''}</td>}
      <td className="right">{format.duration(call.durationMs)}</td>
    </>
  );
}

/** What is known of a call that succeeded. */
export function Facts({ applicationId, call, whole = false }: { applicationId: string; call: Omit<Call, 'reason'>; whole?: boolean }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  return (
    <dl className="call-facts">
      <CallIdFact applicationId={applicationId} callId={call.callId} here={whole} />
      {whole && (
        <>
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
            <dt>{t('column.duration')}</dt>
            <dd>{format.duration(call.durationMs)}</dd>
          </div>
        </>
      )}
      <div>
        <dt>{t('fact.firstByte')}</dt>
        <dd>{format.duration(call.firstByteMs)}</dd>
      </div>
      <div>
        <dt>{t('fact.streamed')}</dt>
        <dd>{t(call.streamed ? 'fact.yes' : 'fact.no')}</dd>
      </div>
      <div>
        <dt>{t('fact.endedBy')}</dt>
        <dd>{t(`endedBy.${call.endedBy}`)}</dd>
      </div>
      <KeyFact applicationId={applicationId} call={call} />
      <DimensionFacts applicationId={applicationId} call={call} />
      <UpstreamFacts call={call} />
      <TokenFacts call={call} />
    </dl>
  );
}
