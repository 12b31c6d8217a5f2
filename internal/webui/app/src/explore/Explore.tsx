import '../chart/chart.css';
import '../ui/form/field.css';
import './explore.css';
import { lazy, Suspense, useCallback, useMemo, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { addDays } from '../range/days';
import { isMonth, MOST_DAYS_READ, presetOf } from '../range/range';
import { RangeBar, showDays } from '../range/RangeBar';
import { useRange, type RangeState } from '../range/useRange';
import { money } from '../tokens/tokens';
import { Block, Bones, Empty } from '../ui/page/Block';
import { Removable } from '../ui/form/Removable';
import { useTitle } from '../ui/page/useTitle';
import { useSearch } from '../ui/table/useSearch';
import { ExploreTable } from './ExploreTable';
import { exploreQueries, type Exploration } from './queries';
import {
  adds,
  GROUPS,
  isTagName,
  kindOf,
  METRICS,
  narrowings,
  read,
  readsMuch,
  type Group,
  type Metric,
  type Narrowing,
  type Question,
  type Site,
} from './question';
import { useWords } from './useWords';

const load = () => import('./ExploreChart');
const ExploreChart = lazy(load);
void load().catch(() => undefined); // asked for again when it is drawn

/** What the page of a site has that another's has not. */
export interface Explorer {
  site: Site;
  views?: ReactNode;
  /** What can be done with the answer. */
  actions: (question: Question, state: RangeState) => ReactNode;
  /** What an application, or an owner, is called; undefined while that is not known. */
  useName: (of: 'application' | 'owner', id: string, state: RangeState) => string | undefined;
}

/** One metric of all calls that one may see, by a group and by time; all of the question is in the URL. */
export function Explore({ of }: { of: Explorer }) {
  const { t } = useTranslation(['explore', 'common']);
  useTitle(t('title'));
  const state = useRange();
  const [search] = useSearch();
  const text = search.toString();
  const usual = isMonth(state.range) ? 'month' : 'previous';
  const question = useMemo(() => read(new URLSearchParams(text), usual, of.site), [text, usual, of.site]);
  const tooLong = state.range.days > MOST_DAYS_READ && readsMuch(question);
  return (
    <>
      <div className="page-head">
        <h1>{t('title')}</h1>
        {of.views}
        <RangeBar state={state} />
      </div>
      <section className="block" aria-label={t('question')}>
        <Controls of={of} question={question} state={state} usual={usual} answered={!tooLong} />
        {tooLong ? (
          <Empty text={t(`tooLong.${of.site}`, { n: String(MOST_DAYS_READ) })}>
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
  of,
  question,
  state,
  usual,
  answered,
}: {
  of: Explorer;
  question: Question;
  state: RangeState;
  usual: Question['compare'];
  answered: boolean;
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
        {GROUPS[of.site].map((group) => (
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
      {narrowings(question).map(([name, value]) => {
        const remove = () => setSearch({ [name]: null });
        return name === 'application' || name === 'owner' ? (
          <Named key={name} of={of} name={name} id={value} state={state} onRemove={remove} />
        ) : (
          <Narrowed key={name} name={name} value={value} onRemove={remove} />
        );
      })}
      {answered && of.actions(question, state)}
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

type Removal = { onRemove: () => void };

/** What the calls are narrowed to, with the click that takes it away. */
function Narrowed({ name, value, onRemove }: Removal & { name: Exclude<keyof Narrowing, 'application' | 'owner'>; value: string }) {
  const { t } = useTranslation(['explore', 'calls']);
  const words = useWords();
  const text =
    name === 'key'
      ? value.slice(0, 8)
      : name === 'tag'
        ? value.replace(':', '=')
        : name === 'result'
          ? t(value === 'success' ? 'calls:result.success' : 'calls:result.failure')
          : words(name === 'model' ? 'capability' : name, value);
  return <Removable label={t(`narrowed.${name}`)} text={text} title={t('remove')} onRemove={onRemove} />;
}

/** The same of an application or an owner. */
function Named({
  of,
  name,
  id,
  state,
  onRemove,
}: Removal & { of: Explorer; name: 'application' | 'owner'; id: string; state: RangeState }) {
  const { t } = useTranslation('explore');
  const text = of.useName(name, id, state) ?? id.slice(0, 8);
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
