import './sessions.css';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { Block, TableBones } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { notify } from '../ui/page/notice';
import { Cell } from '../ui/table/Records';
import { Tag } from '../ui/Tag';
import { useTitle } from '../ui/page/useTitle';
import { agentOf } from './agent';
import { sessionQueries, useEnd, type LiveSession } from './liveSessions';

const Confirm = lazy(() => import('../ui/form/Confirm'));

const columns = ['agent', 'created', 'lastUsed'] as const;

/** Where the owner is signed in, and the end of what is not wanted. */
export function Component() {
  const { t } = useTranslation(['session', 'common']);
  const title = t('common:account.sessions');
  useTitle(title);
  const query = useQuery(sessionQueries.list());
  const [asking, setAsking] = useState<LiveSession | 'others' | null>(null);
  const others = query.data?.filter(({ current }) => !current).length ?? 0;
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        {others > 0 && <Button onClick={() => setAsking('others')}>{t('sessions.endOthers')}</Button>}
      </div>
      <section className="block" aria-label={title}>
        <p className="second sessions-about">{t('sessions.about')}</p>
        <Block query={query} height={88} bones={<TableBones roomy className="records sessions" head={<Columns />} rows={2} columns={4} />}>
          {(items) => (
            <>
              <table className="table records sessions">
                <Columns />
                <tbody>
                  {items.map((one) => (
                    <Row key={one.id} of={one} onEnd={() => setAsking(one)} />
                  ))}
                </tbody>
              </table>
              {others === 0 && <p className="second">{t('sessions.only')}</p>}
            </>
          )}
        </Block>
      </section>
      {asking !== null && <End which={asking} others={others} onClosed={() => setAsking(null)} />}
    </>
  );
}

function Columns() {
  const { t } = useTranslation('session');
  return (
    <thead>
      <tr>
        {columns.map((key) => (
          <th key={key} scope="col" title={key === 'lastUsed' ? t('sessions.lastUsedHint') : undefined}>
            {t(`sessions.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('sessions.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

const MOST_SHOWN = 60; // characters of what a program calls itself

const cut = (text: string): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

/** What signed in, in words; a program by what it calls itself. */
function useAgentText() {
  const { t } = useTranslation('session');
  return (userAgent: string): string => {
    const agent = agentOf(userAgent);
    if (agent === null) return userAgent === '' ? t('sessions.untold') : cut(userAgent);
    return agent.system === '' ? agent.browser : t('sessions.on', { ...agent });
  };
}

function Row({ of: { userAgent, createdAt, lastUsedAt, current }, onEnd }: { of: LiveSession; onEnd: () => void }) {
  const { t } = useTranslation('session');
  const format = useFormat();
  const what = useAgentText()(userAgent);
  return (
    <tr>
      <td>
        <div className="session-agent">
          <strong className="cut" title={userAgent}>
            {what}
          </strong>
          {current && <Tag kind="ok">{t('sessions.current')}</Tag>}
        </div>
      </td>
      <Cell label={t('sessions.created')} className="number">
        <span title={format.exactTime(createdAt)}>{format.time(createdAt)}</span>
      </Cell>
      <Cell label={t('sessions.lastUsed')} className="number">
        <span title={format.exactTime(lastUsedAt)}>{format.time(lastUsedAt)}</span>
      </Cell>
      <td>
        {!current && (
          <div className="record-actions">
            <button
              type="button"
              className="quiet"
              data-edge
              onClick={onEnd}
              aria-label={t('sessions.endOf', { what, at: format.time(createdAt) })}
            >
              {t('sessions.end')}
            </button>
          </div>
        )}
      </td>
    </tr>
  );
}

/** Asks first, and stands beside the list: the row it is about goes before it does. */
function End({ which, others, onClosed }: { which: LiveSession | 'others'; others: number; onClosed: () => void }) {
  const { t } = useTranslation('session');
  const format = useFormat();
  const agentText = useAgentText();
  const { mutateAsync } = useEnd();
  const [n] = useState(others); // the list is read again before the dialog goes
  const all = which === 'others';
  const run = async () => {
    await mutateAsync(which);
    notify('ok', t(all ? 'sessions.endedOthers' : 'sessions.ended'));
  };
  return (
    <Suspense fallback={null}>
      <Confirm
        danger
        title={t(all ? 'sessions.askOthers' : 'sessions.ask')}
        text={
          all
            ? t('sessions.askOthersText', { n: format.count(n) })
            : t('sessions.askText', { what: agentText(which.userAgent), at: format.time(which.createdAt) })
        }
        action={t(all ? 'sessions.endOthers' : 'sessions.end')}
        run={run}
        onClosed={onClosed}
      />
    </Suspense>
  );
}
