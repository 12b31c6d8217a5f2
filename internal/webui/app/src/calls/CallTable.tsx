import { Fragment, type MouseEvent, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useFormat } from '../format/useFormat';
import { TokenFacts } from '../tokens/TokenFacts';
import { UpstreamFacts } from './UpstreamFacts';
import { TableBones } from '../ui/page/Block';
import { CallIdFact } from './CallIdFact';
import { cellOf, useCells, usual, type Column } from './columns';
import { DimensionFacts } from './DimensionFacts';
import { KeyFact } from './KeyFact';
import type { Call } from './queries';
import { Result } from './Result';

function Columns() {
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
        <th scope="col" className="right">
          {t('column.duration')}
        </th>
      </tr>
    </thead>
  );
}

const DRAWER_COLUMNS = 6;

/** A page of calls before it is read, with the columns of a page of its own where they are given. */
export const CallBones = ({ columns }: { columns?: readonly Column[] }) => (
  <>
    <div className="call-figures">
      <div className="bone line" />
    </div>
    {columns ? (
      <TableBones roomy className="calls-table full" head={<ChosenColumns columns={columns} />} rows={10} columns={columns.length + 1} />
    ) : (
      <TableBones className="calls-table" head={<Columns />} rows={10} columns={DRAWER_COLUMNS} />
    )}
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
    <table className="table calls-table">
      <Columns />
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
              <Rest call={call} />
            </tr>
            {call.success && expanded === call.callId && (
              <tr>
                <td className="call-more" colSpan={DRAWER_COLUMNS}>
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

function ChosenColumns({ columns }: { columns: readonly Column[] }) {
  const { t } = useTranslation('calls');
  return (
    <thead>
      <tr>
        <th scope="col" data-column="callId">
          {t('column.callId')}
        </th>
        {columns.map((column) => (
          <th key={column} scope="col" {...cellOf(column)} title={column === 'speed' ? t('columns.speedHint') : undefined}>
            {t(`columns.${column}`)}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The same on a page of its own, with the columns that are chosen: every call is a link, and a day is said once. */
export function CallPageTable({
  body,
  calls,
  columns,
  keys,
  opened,
  hrefOf,
  from,
}: Rows & {
  columns: readonly Column[];
  keys: ReadonlyMap<string, string>;
  /** The call that is seen beside the list. */
  opened: string | null;
  hrefOf: (callId: string) => string;
  from: string;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const navigate = useNavigate();
  const cells = useCells(keys);
  const dayOf = (call: Call) => format.time(call.startTime).slice(0, 10);
  const open = (event: MouseEvent, call: Call) => {
    if (event.target instanceof Element && event.target.closest('a')) return; // the link does it, in a new tab if asked to
    if ((window.getSelection()?.toString() ?? '') === '') void navigate(hrefOf(call.callId), { state: { list: from } });
  };
  return (
    <table className="table calls-table full" data-many={columns.length > usual(true).length || undefined}>
      <ChosenColumns columns={columns} />
      <tbody ref={body}>
        {calls.map((call, n) => (
          <Fragment key={call.callId}>
            {(n === 0 || dayOf(call) !== dayOf(calls[n - 1]!)) && (
              <tr className="call-day">
                <th scope="rowgroup" colSpan={columns.length + 1}>
                  {dayOf(call)} {format.weekday(dayOf(call))}
                </th>
              </tr>
            )}
            <tr className="call" data-opened={opened === call.callId || undefined} onClick={(event) => open(event, call)}>
              <td data-column="callId">
                <Link
                  className="call-id cut"
                  data-call={call.callId}
                  title={call.callId}
                  aria-label={t('open', { id: call.callId })}
                  aria-current={opened === call.callId || undefined}
                  to={hrefOf(call.callId)}
                  state={{ list: from }}
                >
                  <bdi>{call.callId}</bdi>
                </Link>
              </td>
              {columns.map((column) => {
                const { text, title } = cells[column](call);
                return (
                  <td key={column} {...cellOf(column)} data-label={t(`columns.${column}`)} title={title}>
                    {text}
                  </td>
                );
              })}
            </tr>
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function Rest({ call }: { call: Call }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  return (
    <>
      <td className="cut" title={call.model}>
        {call.model === '' ? t('common:metrics.unspecified') : call.model}
      </td>
      <td>
        <Result call={call} />
      </td>
      <td className="right">{call.statusCode}</td>
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
