import '../../ui/form/field.css';
import '../../calls/calls.css';
import '../office.css';
import './directory.css';
import { useState, type FormEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { ApiError } from '../../api/error';
import type { Schemas } from '../../api/client';
import { Result } from '../../calls/Result';
import { UpstreamFacts } from '../../calls/UpstreamFacts';
import { useReasonText } from '../../calls/useReasonText';
import { read } from '../../find/asked';
import { useFormat } from '../../format/useFormat';
import { TokenFacts } from '../../tokens/TokenFacts';
import { Block, Empty } from '../../ui/page/Block';
import { Button } from '../../ui/Button';
import { Copy } from '../../ui/Copy';
import { Icon } from '../../ui/Icon';
import { StatusTag } from '../../ui/Tag';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { officeQueries, TRACED_DAYS } from '../queries';

type Facts = Schemas['CallFacts'];

/** Any call by the X-Call-Id that a caller was told, or the calls of a trace: their facts, never what was sent or answered. */
export function Component() {
  const { t } = useTranslation('admin');
  const { callId = '' } = useParams();
  const [search] = useSearch();
  const trace = search.get('trace') ?? '';
  useTitle(t('lookUp.title'));
  return (
    <>
      <div className="page-head">
        <h1>{t('lookUp.title')}</h1>
      </div>
      <section className="block stack" aria-label={t('lookUp.field')}>
        <p className="second">{t('lookUp.about')}</p>
        <Field key={callId || trace} asked={callId || trace} />
      </section>
      {callId !== '' ? <One callId={callId} /> : trace !== '' && <Traced trace={trace} />}
    </>
  );
}

function Field({ asked }: { asked: string }) {
  const { t } = useTranslation('admin');
  const navigate = useNavigate();
  const [text, setText] = useState(asked);
  const [wrong, setWrong] = useState(false);
  const find = (event: FormEvent) => {
    event.preventDefault();
    const {
      ids: [id],
      traces: [trace],
    } = read(text);
    setWrong(id === undefined && trace === undefined);
    if (id !== undefined) void navigate(`/admin/calls/${id}`);
    else if (trace !== undefined) void navigate(`/admin/calls?trace=${trace}`);
  };
  return (
    <form className="look-up" role="search" onSubmit={find}>
      <div className="search field">
        <Icon name="search" />
        <input
          className="input mono"
          type="search"
          autoFocus={asked === ''}
          autoComplete="off"
          spellCheck={false}
          aria-label={t('lookUp.field')}
          aria-invalid={wrong}
          aria-describedby="look-up-fault"
          placeholder={t('lookUp.placeholder')}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="fault-text" id="look-up-fault" role="alert">
          {wrong ? t('lookUp.wrong') : ''}
        </span>
      </div>
      <Button kind="primary" type="submit">
        {t('lookUp.find')}
      </Button>
    </form>
  );
}

function One({ callId }: { callId: string }) {
  const { t } = useTranslation('admin');
  const query = useQuery(officeQueries.call(callId));
  return (
    <section className="block" aria-label={t('lookUp.call')}>
      {query.error instanceof ApiError && query.error.status === 404 ? (
        <Empty text={t('lookUp.gone')} />
      ) : (
        <Block query={query} height={320}>
          {(call) => <CallFacts call={call} />}
        </Block>
      )}
    </section>
  );
}

function CallFacts({ call }: { call: Facts }) {
  const { t } = useTranslation(['admin', 'calls', 'common']);
  const format = useFormat();
  const words = useReasonText();
  const { application, owner, reason } = call;
  return (
    <dl className="call-facts">
      <div className="across">
        <dt>{t('calls:column.callId')}</dt>
        <dd className="mono">
          {call.callId} <Copy text={call.callId} bare />
        </dd>
      </div>
      <div>
        <dt>{t('lookUp.application')}</dt>
        <dd>
          <Link to={`/admin/applications?q=${application.id}`}>{application.name}</Link> <StatusTag status={application.status} />
        </dd>
      </div>
      <div>
        <dt>{t('lookUp.owner')}</dt>
        <dd>
          <Link to={`/admin/users?q=${encodeURIComponent(owner.email)}`}>{owner.email}</Link>
        </dd>
      </div>
      <div>
        <dt>{t('calls:column.model')}</dt>
        <dd>
          {call.model === '' ? (
            t('common:metrics.unspecified')
          ) : (
            <Link to={`/admin/capabilities/${encodeURIComponent(call.model)}`}>{call.model}</Link>
          )}
        </dd>
      </div>
      <div>
        <dt>{t('calls:column.time')}</dt>
        <dd className="number" title={format.exactTime(call.startTime)}>
          {format.time(call.startTime)}
        </dd>
      </div>
      <div>
        <dt>{t('calls:column.result')}</dt>
        <dd>
          <Result call={call} />
        </dd>
      </div>
      <div>
        <dt>{t('calls:column.status')}</dt>
        <dd className="number">{call.statusCode}</dd>
      </div>
      {reason !== null && (
        <div>
          <dt>{t('calls:fact.reason')}</dt>
          <dd title={`${reason.type}:${reason.code}`}>{words(reason)}</dd>
        </div>
      )}
      {reason !== null && reason.upstreamStatus !== null && (
        <div>
          <dt>{t('calls:fact.upstreamStatus')}</dt>
          <dd className="number">{reason.upstreamStatus}</dd>
        </div>
      )}
      <div>
        <dt>{t('calls:column.duration')}</dt>
        <dd className="number">{format.duration(call.durationMs)}</dd>
      </div>
      <div>
        <dt>{t('calls:fact.firstByte')}</dt>
        <dd className="number">{format.duration(call.firstByteMs)}</dd>
      </div>
      <div>
        <dt>{t('calls:fact.streamed')}</dt>
        <dd>{t(call.streamed ? 'calls:fact.yes' : 'calls:fact.no')}</dd>
      </div>
      <div>
        <dt>{t('calls:fact.endedBy')}</dt>
        <dd>{t(`calls:endedBy.${call.endedBy}`)}</dd>
      </div>
      <UpstreamFacts call={call} at={call.attemptUpstreams} />
      <TokenFacts call={call} />
    </dl>
  );
}

function Traced({ trace }: { trace: string }) {
  const { t } = useTranslation(['admin', 'common']);
  const format = useFormat();
  const query = useQuery(officeQueries.trace(trace));
  return (
    <section className="block" aria-label={t('lookUp.traced')}>
      <Block query={query} height={160}>
        {({ items, more }) =>
          items.length === 0 ? (
            <Empty text={t('lookUp.untraced', { days: String(TRACED_DAYS) })} />
          ) : (
            <>
              <ul className="traced">
                {items.map((call) => (
                  <li key={call.callId}>
                    <Link className="mono" to={`/admin/calls/${call.callId}`}>
                      {call.callId}
                    </Link>
                    <span className="number">{format.time(call.startTime)}</span>
                    <span>{call.model === '' ? t('common:metrics.unspecified') : call.model}</span>
                    <Result call={call} />
                    <span className="number">{call.statusCode}</span>
                    <span className="second">
                      {call.application.name}, {call.owner.email}
                    </span>
                  </li>
                ))}
              </ul>
              {more && <p className="meta">{t('lookUp.more', { n: format.count(items.length) })}</p>}
            </>
          )
        }
      </Block>
    </section>
  );
}
