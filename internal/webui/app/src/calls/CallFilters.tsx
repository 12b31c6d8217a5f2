import { useEffect, useId, useState, type CSSProperties } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { addDays } from '../range/days';
import { custom } from '../range/range';
import type { RangeState } from '../range/useRange';
import { Removable } from '../ui/form/Removable';
import { SearchField } from '../ui/form/SearchField';
import { useUrlText } from '../ui/table/useUrlText';
import { reasonOf, whyQueries } from '../why/queries';
import { MOST_TEXT, nothingChosen, timely, timeOf, type Choice } from './filter';
import { KeyChoice } from './KeyChoice';
import { ModelChoice } from './ModelChoice';
import { useReasonWords } from './useReasonText';

type Choose = (change: Partial<Choice>) => void;

/** What applications and keys are called, by their ids. */
export type Names = Record<'application' | 'key', ReadonlyMap<string, string>>;

/** The filters of the calls' page; each change is in the URL at once, and the list at its first page. */
export function CallFilters({
  applicationId,
  state,
  choice,
  names,
  models,
  live,
  updatedAt,
  onChoose,
}: {
  /** Null: of every own application, or of the one that is chosen. */
  applicationId: string | null;
  state: RangeState;
  choice: Choice;
  names: Names;
  models: readonly string[];
  live: boolean;
  updatedAt: number;
  onChoose: Choose;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const [text, setText] = useUrlText('text');
  const of = applicationId ?? choice.application;
  const narrowed = JSON.stringify(choice) !== JSON.stringify(nothingChosen);
  return (
    <div className="row call-filters full" role="search" aria-label={t('page.filters')}>
      <Days state={state} />
      <ModelChoice models={models} model={choice.model} onModel={(model) => onChoose({ model })} />
      <select
        className="select"
        aria-label={t('column.result')}
        value={choice.result ?? ''}
        onChange={({ target }) => onChoose({ result: target.value === '' ? null : (target.value as 'success' | 'failure') })}
      >
        <option value="">{t('allResults')}</option>
        <option value="success">{t('result.success')}</option>
        <option value="failure">{t('result.failure')}</option>
      </select>
      <ReasonChoice applicationId={of} state={state} reason={choice.reason} onReason={(reason) => onChoose({ reason })} />
      {of !== null && <KeyChoice applicationId={of} chosen={choice.key} onKey={(key) => onChoose({ key })} />}
      {(['application', 'key', 'tag', 'user', 'message'] as const).map((name) => {
        const value = choice[name];
        if (value === null || (name === 'key' && of !== null)) return null;
        const label = name === 'application' ? t('columns.application') : t(`fact.${name}`);
        const text =
          name === 'tag'
            ? value.replace(':', '=')
            : name === 'user' || name === 'message'
              ? value
              : (names[name].get(value) ?? value.slice(0, 8));
        return (
          <Removable
            key={name}
            label={label}
            text={text}
            title={t('page.remove', { name: label })}
            onRemove={() => onChoose({ [name]: null })}
          />
        );
      })}
      <Written
        key={`status ${choice.status}`}
        label={t('column.status')}
        placeholder={t('page.anyStatus')}
        size={3}
        value={choice.status === null ? '' : String(choice.status)}
        good={(value) => /^[1-5]\d\d$/.test(value)}
        wrong={t('page.badStatus')}
        onValue={(value) => onChoose({ status: value === '' ? null : Number(value) })}
      />
      <Times range={state.range} choice={choice} onChoose={onChoose} />
      <SearchField label={t('page.text')} most={MOST_TEXT} value={text} onChange={setText} />
      {narrowed && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            setText('');
            onChoose(nothingChosen);
          }}
        >
          {t('page.clear')}
        </button>
      )}
      {live && (
        <span className="call-live meta" title={t('liveHint')}>
          <i className="live-dot" />
          {t('live')} · <Updated at={updatedAt} />
        </span>
      )}
    </div>
  );
}

/** Today and yesterday, which most questions are about. */
function Days({ state: { range, today, setRange } }: { state: RangeState }) {
  const { t } = useTranslation('calls');
  return (
    <div className="choice" role="group" aria-label={t('day')}>
      {(
        [
          ['today', today],
          ['yesterday', addDays(today, -1)],
        ] as const
      ).map(([name, day]) => {
        const one = custom(day, day, today);
        return (
          <button key={name} type="button" aria-pressed={range.start === day && range.end === day} onClick={() => one && setRange(one)}>
            {t(name)}
          </button>
        );
      })}
    </div>
  );
}

/** The reasons there were in the range, with how often. */
function ReasonChoice({
  applicationId,
  state: { range, holdsToday },
  reason,
  onReason,
}: {
  applicationId: string | null;
  state: RangeState;
  reason: string | null;
  onReason: (reason: string | null) => void;
}) {
  const { t } = useTranslation('calls');
  const format = useFormat();
  const words = useReasonWords();
  const { data } = useQuery(whyQueries.reasons(applicationId, range, holdsToday));
  const counts = new Map<string, number>();
  for (const item of data?.items ?? []) counts.set(reasonOf(item), (counts.get(reasonOf(item)) ?? 0) + item.failures);
  if (reason !== null && !counts.has(reason)) counts.set(reason, 0);
  return (
    <select
      className="select"
      aria-label={t('fact.reason')}
      value={reason === null ? '' : `=${reason}`}
      onChange={({ target }) => onReason(target.value === '' ? null : target.value.slice(1))}
    >
      <option value="">{t('page.allReasons')}</option>
      {[...counts].map(([one, n]) => (
        <option key={one} value={`=${one}`}>
          {words(one)}
          {n > 0 && ` (${format.count(n)})`}
        </option>
      ))}
    </select>
  );
}

/** From when to when: of the day, or of the range's first and last one. */
function Times({ range, choice: { from, to }, onChoose }: { range: { start: string; end: string }; choice: Choice; onChoose: Choose }) {
  const { t } = useTranslation('calls');
  const many = range.start < range.end;
  const field = (name: 'from' | 'to', value: string | null) => (
    <Written
      key={`${name} ${value}`}
      label={t(many ? `page.${name}Many` : `page.${name}`)}
      placeholder={name === 'from' ? '00:00' : '24:00'}
      size={8}
      value={value ?? ''}
      good={(text) => timeOf(text) !== null && timely(range, { from, to, [name]: timeOf(text) })}
      wrong={t('page.badTime')}
      onValue={(text) => onChoose({ [name]: text === '' ? null : timeOf(text) })}
    />
  );
  return (
    <span className="call-times">
      {field('from', from)}
      <span aria-hidden="true">–</span>
      {field('to', to)}
    </span>
  );
}

/** A short field that counts when it is left, or on Enter, and says what is wrong with it. */
function Written({
  label,
  placeholder,
  size,
  value,
  good,
  wrong,
  onValue,
}: {
  label: string;
  placeholder: string;
  size: number;
  value: string;
  good: (text: string) => boolean;
  wrong: string;
  onValue: (text: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState(value);
  const [bad, setBad] = useState(false);
  const done = () => {
    const given = text.trim();
    if (given === value) return setBad(false);
    if (given !== '' && !good(given)) return setBad(true);
    setBad(false);
    onValue(given);
  };
  return (
    <span className="call-written">
      <input
        className="input"
        type="text"
        inputMode="numeric"
        autoComplete="off"
        aria-label={label}
        title={label}
        placeholder={placeholder}
        maxLength={size}
        style={{ '--width': `${size + 6}ch` } as CSSProperties}
        value={text}
        aria-invalid={bad}
        aria-describedby={id}
        onChange={(event) => {
          setBad(false);
          setText(event.target.value);
        }}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === 'Enter') done();
        }}
      />
      <span id={id} className="fault-line meta" role="alert">
        {bad ? wrong : ''}
      </span>
    </span>
  );
}

/** How long ago the list was read; counted here, so that nothing else is drawn each second. */
function Updated({ at }: { at: number }) {
  const { t } = useTranslation('calls');
  const [now, setNow] = useState(at);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="number">{t('page.updated', { n: String(Math.max(0, Math.floor((now - at) / 1000))) })}</span>;
}
