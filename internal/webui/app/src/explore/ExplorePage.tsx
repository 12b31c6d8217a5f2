import '../chart/chart.css';
import '../ui/form/field.css';
import './explore.css';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { applicationQueries } from '../applications/queries';
import { useFormat } from '../format/useFormat';
import { addDays } from '../range/days';
import { isMonth, MOST_DAYS_READ, presetOf } from '../range/range';
import { RangeBar, showDays } from '../range/RangeBar';
import { useRange, type RangeState } from '../range/useRange';
import { money } from '../tokens/tokens';
import { Block, Bones, Empty } from '../ui/page/Block';
import { Removable } from '../ui/form/Removable';
import { SavedViews } from '../views/SavedViews';
import { useTitle } from '../ui/page/useTitle';
import { useSearch } from '../ui/table/useSearch';
import { AlertOnThis } from './AlertOnThis';
import { ExploreTable } from './ExploreTable';
import { csvPath, exploreQueries, type Exploration } from './queries';
import {
  adds,
  GROUPS,
  isTagName,
  kindOf,
  METRICS,
  NARROWING,
  read,
  readsCalls,
  type Group,
  type Metric,
  type Narrowing,
  type Question,
} from './question';
import { useWords } from './useWords';

const load = () => import('./ExploreChart');
const ExploreChart = lazy(load);
void load().catch(() => undefined); // asked for again when it is drawn

/** One metric of all own calls, by a group and by time; all of the question is in the URL. */
export function Component() {
  const { t } = useTranslation(['explore', 'common']);
  useTitle(t('title'));
  const state = useRange();
  const [search] = useSearch();
  const text = search.toString();
  const usual = isMonth(state.range) ? 'month' : 'previous';
  const question = useMemo(() => read(new URLSearchParams(text), usual), [text, usual]);
  const tooLong = state.range.days > MOST_DAYS_READ && readsCalls(question);
  return (
    <>
      <div className="page-head">
        <h1>{t('title')}</h1>
        <SavedViews page="explore" />
        <RangeBar state={state} />
      </div>
      <section className="block" aria-label={t('question')}>
        <Controls question={question} state={state} usual={usual} downloadable={!tooLong} />
        {tooLong ? (
          <Empty text={t('tooLong', { n: String(MOST_DAYS_READ) })}>
            <button type="button" className="quiet" data-edge onClick={() => state.setRange(presetOf('30d', state.today))}>
              {t('common:range.presets.30d')}
            </button>
          </Empty>
        ) : (
          <Answer question={question} state={state} />
        )}
      </section>
    </>
  );
}

function Controls({
  question,
  state,
  usual,
  downloadable,
}: {
  question: Question;
  state: RangeState;
  usual: Question['compare'];
  downloadable: boolean;
}) {
  const { t } = useTranslation(['explore', 'common']);
  const [, setSearch] = useSearch();
  const choose = (value: Group) => setSearch({ by: value === 'capability' ? null : value === 'tag' ? `tag:${question.tag}` : value });
  return (
    <div className="row explore-controls" role="search" aria-label={t('question')}>
      <select
        className="select"
        aria-label={t('metric')}
        value={question.metric}
        onChange={({ target }) => setSearch({ metric: target.value === 'calls' ? null : target.value })}
      >
        {METRICS.map((metric) => (
          <option key={metric} value={metric}>
            {t(`metrics.${metric}`)}
          </option>
        ))}
      </select>
      <select className="select" aria-label={t('by')} value={question.by} onChange={({ target }) => choose(target.value as Group)}>
        {GROUPS.map((group) => (
          <option key={group} value={group}>
            {t('byOne', { group: t(`groups.${group}`) })}
          </option>
        ))}
      </select>
      {question.by === 'tag' && <TagName key={question.tag} tag={question.tag} />}
      <select
        className="select"
        aria-label={t('compare')}
        value={question.compare ?? 'off'}
        onChange={({ target }) => setSearch({ compare: target.value === usual ? null : target.value })}
      >
        {(['previous', 'month', 'off'] as const).map((how) => (
          <option key={how} value={how}>
            {t(`compares.${how}`)}
          </option>
        ))}
      </select>
      {NARROWING.map((name) => {
        const value = question.only[name];
        return value === undefined ? null : <Narrowed key={name} name={name} value={value} onRemove={() => setSearch({ [name]: null })} />;
      })}
      {downloadable && (
        <>
          <AlertOnThis question={question} state={state} />
          <a className="meta end" href={csvPath(question, state.range)} download>
            {t('common:csv.download')}
          </a>
        </>
      )}
    </div>
  );
}

/** The name of the tag that is grouped by; it counts when it is left, or on Enter. */
function TagName({ tag }: { tag: string }) {
  const { t } = useTranslation('explore');
  const [, setSearch] = useSearch();
  const [text, setText] = useState(tag);
  const done = () => {
    if (text !== tag && isTagName(text)) setSearch({ by: `tag:${text}` });
  };
  return (
    <input
      className="input explore-tag"
      aria-label={t('tagName')}
      title={t('tagHint')}
      autoComplete="off"
      spellCheck={false}
      maxLength={32}
      value={text}
      aria-invalid={!isTagName(text)}
      onChange={({ target }) => setText(target.value.toLowerCase())}
      onBlur={done}
      onKeyDown={({ key }) => {
        if (key === 'Enter') done();
      }}
    />
  );
}

/** What the calls are narrowed to, with the click that takes it away. */
function Narrowed({ name, value, onRemove }: { name: keyof Narrowing; value: string; onRemove: () => void }) {
  const { t } = useTranslation(['explore', 'calls']);
  const words = useWords();
  const { data } = useQuery({ ...applicationQueries.get(value), enabled: name === 'application' });
  const text =
    name === 'application'
      ? (data?.name ?? value.slice(0, 8))
      : name === 'key'
        ? value.slice(0, 8)
        : name === 'tag'
          ? value.replace(':', '=')
          : name === 'result'
            ? t(value === 'success' ? 'calls:result.success' : 'calls:result.failure')
            : words(name === 'model' ? 'capability' : name, value);
  return <Removable label={t(`narrowed.${name}`)} text={text} title={t('remove')} onRemove={onRemove} />;
}

function Answer({ question, state }: { question: Question; state: RangeState }) {
  const query = useQuery(exploreQueries.ask(question, state.range, state.holdsToday));
  const { t } = useTranslation('explore');
  return (
    <Block query={query} height={480}>
      {(answer) =>
        answer.items.length === 0 ? <Empty text={t('empty')} /> : <Explored answer={answer} question={question} state={state} />
      }
    </Block>
  );
}

function Explored({ answer, question, state }: { answer: Exploration; question: Question; state: RangeState }) {
  const { t } = useTranslation('explore');
  const words = useWords();
  const write = useValue(question.metric, answer.currency);
  const stacked = adds(question.metric);
  const series = useMemo(() => {
    const numbers = (values: readonly (string | null)[]) => values.map((value) => (value === null ? null : Number(value)));
    const named = answer.items.map((item) => ({ name: item.name ?? words(question.by, item.group), values: numbers(item.values) }));
    return answer.other ? [...named, { name: t('other'), values: numbers(answer.other.values) }] : named;
  }, [answer, question.by, words, t]);
  const { range } = state;
  // A week's last day is the one before the next begins.
  const choose = (first: number, last: number) =>
    showDays(
      state,
      answer.parts[first]!.slice(0, 10),
      last + 1 < answer.parts.length ? addDays(answer.parts[last + 1]!.slice(0, 10), -1) : range.end,
    );
  const sentence = t('sentence', {
    metric: t(`metrics.${question.metric}`),
    start: range.start,
    end: range.end,
    total: write(answer.total.value === null ? null : Number(answer.total.value)),
  });
  return (
    <>
      <div className="chart-place">
        <Suspense fallback={<Bones height={280} />}>
          <ExploreChart
            parts={answer.parts}
            series={series}
            stacked={stacked}
            kind={kindOf(question.metric)}
            sentence={sentence}
            write={write}
            onRange={range.days > 1 ? choose : undefined}
          />
        </Suspense>
      </div>
      <ExploreTable answer={answer} question={question} state={state} write={write} />
    </>
  );
}

/** How a metric's values are written. */
function useValue(metric: Metric, currency: string | null): (n: number | null) => string {
  const format = useFormat();
  return useCallback(
    (n: number | null) => {
      if (n === null) return '—';
      switch (kindOf(metric)) {
        case 'money':
          return currency === null ? '—' : money({ amount: n.toFixed(12), currency });
        case 'rate':
          return `${(n * 100).toFixed(2)}%`;
        case 'duration':
          return format.duration(n);
        default:
          return format.count(n);
      }
    },
    [metric, currency, format],
  );
}
