import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useFormat } from '../format/useFormat';
import { indented } from '../json/exact';
import type zh from '../locale/zh/playground';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { Tag } from '../ui/Tag';
import { answerText, errorIn } from './deltas';
import { MOST, type Attempt } from './send';

const views = ['joined', 'raw', 'headers'] as const;

/** What the gateway answered: text joined from deltas, the raw body, the headers, and how long it took. */
export function Answer({ attempt, applicationId }: { attempt: Attempt | null; applicationId: string }) {
  const { t } = useTranslation(['playground', 'common']);
  const [view, setView] = useState<(typeof views)[number]>('joined');
  const format = useFormat();
  const shown =
    attempt === null
      ? t('idle')
      : attempt.state === 'waiting'
        ? t('waiting')
        : contents(attempt, view) || (attempt.state === 'open' ? t('waiting') : t('emptyAnswer'));
  const nothing = attempt === null || attempt.state === 'waiting';
  const text = nothing || (view === 'joined' && attempt.joined + answerText(attempt.raw) !== '');
  return (
    <section className="block try-block" aria-label={t('answer')}>
      <div className="block-head">
        <h2>{t('answer')}</h2>
        <div className="choice" role="group" aria-label={t('which')}>
          {views.map((one) => (
            <button key={one} type="button" aria-pressed={one === view} onClick={() => setView(one)}>
              {t(`views.${one}`)}
            </button>
          ))}
        </div>
        <Copy bare text={shown} disabled={nothing} />
      </div>
      <dl className="try-figures">
        <div>
          <dt>{t('status')}</dt>
          <dd>
            {attempt?.status ? (
              <Tag kind={attempt.status < 300 && attempt.state !== 'cut' ? 'ok' : 'failed'}>{String(attempt.status)}</Tag>
            ) : (
              '—'
            )}
          </dd>
        </div>
        <div>
          <dt>{t('firstByte')}</dt>
          <dd>{format.duration(rounded(attempt?.firstByteMs))}</dd>
        </div>
        <div>
          <dt>{t('total')}</dt>
          <dd>{format.duration(rounded(attempt?.totalMs))}</dd>
        </div>
        <div>
          <dt>{t('callId')}</dt>
          <dd>
            {attempt?.callId ? (
              <Link to={`/applications/${applicationId}`} state={{ log: attempt.callId }} title={t('toLog')}>
                <code>{attempt.callId}</code>
              </Link>
            ) : (
              '—'
            )}
          </dd>
        </div>
      </dl>
      <div className="stack try-notes" role="status">
        {attempt && <Notes attempt={attempt} />}
      </div>
      <pre
        className={nothing ? 'try-answer second' : 'try-answer'}
        data-text={text}
        tabIndex={0}
        aria-label={t(`views.${view}`)}
        aria-busy={attempt?.totalMs === null}
      >
        {shown}
      </pre>
    </section>
  );
}

const rounded = (ms: number | null | undefined): number | null => (ms === null || ms === undefined ? null : Math.round(ms));

function contents({ headers, raw, joined }: Attempt, view: (typeof views)[number]): string {
  if (view === 'headers') return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  if (view === 'raw') return raw;
  return joined || answerText(raw) || readable(raw);
}

function readable(raw: string): string {
  try {
    return indented(raw);
  } catch {
    return raw;
  }
}

function Notes({ attempt }: { attempt: Attempt }) {
  const { t, i18n } = useTranslation(['playground', 'common']);
  const failed = attempt.status !== null && attempt.status >= 400 && attempt.totalMs !== null;
  const why = ({ ours, status }: Attempt): string => {
    if (ours === null) return status === 401 || status === 403 ? t('upstreamRefused', { status: String(status) }) : t('upstreamError');
    return i18n.exists(`playground:fix.${ours}`)
      ? t(`fix.${ours as keyof (typeof zh)['fix']}`)
      : (errorIn(attempt.raw)?.message ?? t('gatewayError'));
  };
  const notes = [
    ...(attempt.state === 'cut'
      ? [t('cut')]
      : attempt.state === 'stopped'
        ? [t('stopped')]
        : attempt.state === 'redirect'
          ? [t('redirect')]
          : attempt.state === 'unreached'
            ? [t('failed')]
            : []),
    ...(failed ? [why(attempt)] : []),
    ...(attempt.long ? [t('long', { n: String(MOST) })] : []),
  ];
  const kind = (note: string) => (note === t('stopped') ? 'warn' : 'failed');
  return notes.map((note) => (
    <div key={note} className="bar" data-kind={kind(note)}>
      <Icon name={kind(note)} />
      {note}
    </div>
  ));
}
