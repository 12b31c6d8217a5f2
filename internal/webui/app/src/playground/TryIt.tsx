import './playground.css';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { capabilityQueries, useBind, useEnable } from '../capabilities/queries';
import { Based } from '../session/Base';
import { Block, Empty } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { composing } from '../ui/form/composing';
import { useTellFault } from '../ui/page/faultText';
import { useSearch } from '../ui/table/useSearch';
import { Answer } from './Answer';
import { callQueries, type OwnCall } from '../calls/queries';
import { useReasonText } from '../calls/useReasonText';
import { useFormat } from '../format/useFormat';
import { Gaps } from './Gaps';
import { draftOf, gapsOf } from './replay';
import { firstDraft, google, parsed, streams, withStream, type Draft } from './request';
import { Samples } from './Samples';
import { useAttempt } from './useAttempt';

interface Props {
  capability: Schemas['CapabilityFields'];
}

/** A request built from the upstream's model and default path, sent with an own application's key. */
export default function TryIt({ capability }: Props) {
  const [search] = useSearch();
  const callId = search.get('replay');
  return (
    <Based height={480}>
      {(base, here) =>
        callId === null ? (
          <Try capability={capability} base={base} here={here} />
        ) : (
          <Replay key={callId} callId={callId} capability={capability} base={base} here={here} />
        )
      }
    </Based>
  );
}

interface Site {
  base: string;
  here: boolean;
}

/** The request of a call that failed, to be sent again. */
function Replay({ callId, capability, ...site }: Props & Site & { callId: string }) {
  const { t } = useTranslation('playground');
  const query = useQuery(callQueries.own(callId));
  const example = firstDraft(capability.defaultPath, capability.upstreamModel, t('hello'));
  const call = query.data;
  if (call === undefined && !query.isError)
    return (
      <section className="block">
        <Block query={query} height={480}>
          {() => null}
        </Block>
      </section>
    );
  const draft = call?.failure ? draftOf(call.failure, call.body, example.body) : null;
  return (
    <>
      {call && draft !== null ? null : (
        <div className="bar" data-kind="warn" role="status">
          {t('replay.absent')}
        </div>
      )}
      <Try capability={capability} {...site} {...(call && draft ? { replayed: { call, draft } } : {})} />
    </>
  );
}

interface Replayed {
  call: OwnCall;
  draft: Draft;
}

function Try({ capability, base, here, replayed }: Props & Site & { replayed?: Replayed }) {
  const { t } = useTranslation(['playground', 'common']);
  const bindings = useQuery(capabilityQueries.applications(capability.id));
  const first = replayed?.draft ?? firstDraft(capability.defaultPath, capability.upstreamModel, t('hello'));
  const [draft, setDraft] = useState(first);
  return (
    <>
      {here ? (
        bindings.data ? (
          <Block query={bindings} height={480}>
            {(items) => <Live capability={capability} items={items} draft={draft} first={first} replayed={replayed} onDraft={setDraft} />}
          </Block>
        ) : (
          <section className="block">
            <Block query={bindings} height={480}>
              {() => null}
            </Block>
          </section>
        )
      ) : (
        <section className="block stack">
          <p className="second">{t('elsewhere', { base })}</p>
          <Editor draft={draft} first={first} replayed={replayed} onDraft={setDraft} />
        </section>
      )}
      <Samples base={base} capabilityId={capability.id} draft={draft} />
    </>
  );
}

interface Editing {
  draft: Draft;
  first: Draft;
  /** The call whose request this was, if it was one's. */
  replayed: Replayed | undefined;
  onDraft: (draft: Draft) => void;
}

function Live({ capability, items, ...editing }: Props & Editing & { items: Schemas['Binding'][] }) {
  const { t } = useTranslation(['playground', 'common']);
  const [search, setSearch] = useSearch();
  const { attempt, running, start, stop } = useAttempt();
  const [sentBy, setSentBy] = useState('');
  const mend = useMend(capability.id);
  const chosen =
    items.find(({ id }) => id === search.get('app')) ??
    items.find(({ bound, status }) => bound && status === 'active') ??
    items.find(({ bound }) => bound) ??
    items[0];
  if (!chosen)
    return (
      <section className="block">
        <Empty text={t('noApplication')}>
          <Link className="quiet" data-edge to="/applications?new">
            {t('create')}
          </Link>
        </Empty>
      </section>
    );

  const choose = (id: string) => setSearch({ app: id }, { replace: true });
  const whole = !editing.replayed || gapsOf(editing.draft).length === 0;
  const sendable = chosen.bound && parsed(editing.draft.body) !== undefined && whole;
  const send = () => {
    if (!sendable || running) return;
    setSentBy(chosen.id);
    void start(chosen.id, capability.id, editing.draft);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || composing(event.nativeEvent) || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="try" onKeyDown={keys}>
      <section className="block stack" aria-label={t('request')}>
        <Chooser items={items} chosen={chosen} onChoose={choose} />
        {!chosen.bound && <Mend text={t('bindFirst', { name: chosen.name })} action={t('bind')} onMend={() => mend.bind(chosen.id)} />}
        {chosen.bound && chosen.status === 'disabled' && (
          <Mend text={t('enableFirst', { name: chosen.name })} action={t('enable')} onMend={() => mend.enable(chosen.id)} />
        )}
        <Editor {...editing} />
        <div className="try-foot">
          {running ? (
            <Button danger onClick={stop}>
              {t('stop')}
            </Button>
          ) : (
            <Button kind="primary" disabled={!sendable} title={t(whole ? 'sendKeys' : 'replay.fillFirst')} onClick={send}>
              {t('send')}
            </Button>
          )}
          <span className="meta">{t('note')}</span>
        </div>
      </section>
      <Answer attempt={attempt} applicationId={sentBy} />
    </div>
  );
}

/** Binds or enables at one click; a failure is told at the edge of the page. */
function useMend(capabilityId: string) {
  const bind = useBind(capabilityId);
  const enable = useEnable(capabilityId);
  const failed = useTellFault();
  return {
    bind: (id: string) => void bind.mutateAsync(id).catch(failed),
    enable: (id: string) => void enable.mutateAsync(id).catch(failed),
  };
}

function Mend({ text, action, onMend }: { text: string; action: string; onMend: () => void }) {
  return (
    <div className="bar" data-kind="warn" role="status">
      {text}
      <button type="button" className="quiet" data-edge onClick={onMend}>
        {action}
      </button>
    </div>
  );
}

function Chooser({ items, chosen, onChoose }: { items: Schemas['Binding'][]; chosen: Schemas['Binding']; onChoose: (id: string) => void }) {
  const { t } = useTranslation(['playground', 'common']);
  const options = (bound: boolean) =>
    items
      .filter((item) => item.bound === bound)
      .map(({ id, name, status }) => (
        <option key={id} value={id}>
          {status === 'disabled' ? t('off', { name }) : name}
        </option>
      ));
  const [yes, no] = [options(true), options(false)];
  return (
    <div className="field">
      <label htmlFor="try-application">{t('application')}</label>
      <select id="try-application" className="select" value={chosen.id} onChange={(event) => onChoose(event.target.value)}>
        {yes.length > 0 && <optgroup label={t('bound')}>{yes}</optgroup>}
        {no.length > 0 && <optgroup label={t('unbound')}>{no}</optgroup>}
      </select>
    </div>
  );
}

function Editor({ draft, first, replayed, onDraft }: Editing) {
  const { t } = useTranslation(['playground', 'common']);
  const bad = parsed(draft.body) === undefined;
  const streaming = google(draft.path) ? null : streams(draft.body); // Google's paths say it
  const edited = draft.path !== first.path || draft.body !== first.body;
  return (
    <>
      {replayed && (
        <Replaying {...replayed}>
          <Gaps gaps={gapsOf(draft)} fields={{ path: 'try-path', body: 'try-body' }} />
        </Replaying>
      )}
      <div className="field">
        <label htmlFor="try-path">{t('path')}</label>
        <input
          id="try-path"
          className="input mono"
          spellCheck={false}
          autoComplete="off"
          value={draft.path}
          onChange={(event) => onDraft({ ...draft, path: event.target.value })}
        />
      </div>
      <div className="field">
        <div className="try-label">
          <label htmlFor="try-body">{t('body')}</label>
          {edited ? (
            <button type="button" className="quiet" onClick={() => onDraft(first)}>
              {t('reset')}
            </button>
          ) : (
            <span className="meta">{t('bodyHint')}</span>
          )}
        </div>
        <textarea
          id="try-body"
          className="area mono"
          rows={12}
          spellCheck={false}
          value={draft.body}
          aria-invalid={bad}
          aria-describedby="try-body-fault"
          onChange={(event) => onDraft({ ...draft, body: event.target.value })}
        />
        <p id="try-body-fault" className="fault-text" role="alert">
          {bad ? t('bodyBad') : ''}
        </p>
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={streaming === true}
          disabled={streaming === null}
          onChange={(event) => onDraft({ ...draft, body: withStream(draft, event.target.checked) })}
        />
        {t('stream')}
      </label>
    </>
  );
}

/** Which call's request this is, and what of it was not kept. */
function Replaying({ call, draft, children }: Replayed & { children: ReactNode }) {
  const { t } = useTranslation('playground');
  const format = useFormat();
  const reason = useReasonText();
  const { failure } = call;
  const lost = failure?.bodyNote !== null && failure?.bodyNote !== undefined && failure.bodyNote !== 'empty';
  return (
    <div className="replaying">
      <p>
        {t('replay.of', { method: draft.method ?? '' })}{' '}
        <Link to={`/applications/${call.application.id}/calls/${call.callId}`} title={call.callId}>
          {format.time(call.startTime)}
        </Link>
        {failure?.reason && ` · ${reason(failure.reason)}`}
      </p>
      {lost && <p className="second">{t('replay.example')}</p>}
      {children}
    </div>
  );
}
