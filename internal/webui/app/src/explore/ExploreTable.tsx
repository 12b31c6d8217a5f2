import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import { callsPath } from '../calls/filter';
import { useFormat } from '../format/useFormat';
import { useDark } from '../ui/page/theme';
import { colorsOf } from './colors';
import type { Exploration, Item } from './queries';
import { adds, choiceOf, figuresOf, kindOf, narrowedTo, next, type Question } from './question';
import type { RangeState } from '../range/useRange';
import { useWords } from './useWords';

type Fields = Exploration['total'];

/** The groups with their figures, the others and all together. A name narrows the question to its calls; a number of calls leads to them. */
export function ExploreTable({
  answer,
  question,
  state,
  write,
}: {
  answer: Exploration;
  question: Question;
  state: RangeState;
  write: (n: number | null) => string;
}) {
  const { t } = useTranslation(['explore', 'common']);
  const format = useFormat();
  const colors = colorsOf(useDark(), answer.items.length + (answer.other ? 1 : 0));
  const total = Number(answer.total.value ?? 0);
  const shares = adds(question.metric) && total > 0;
  const compared = question.compare !== null;
  const unknown = answer.total.unknownCalls > 0;
  const cells = (of: Fields) => {
    const [value, previous] = [of.value, of.previous].map((text) => (text === null ? null : Number(text))) as [
      number | null,
      number | null,
    ];
    const change = kindOf(question.metric) === 'rate' ? format.rateChange(value, previous) : format.change(value, previous);
    return (
      <>
        <td className="right">{write(value)}</td>
        {shares && <td className="right roomy">{value === null ? '—' : `${((value / total) * 100).toFixed(1)}%`}</td>}
        {compared && <td className="right roomy">{write(previous)}</td>}
        {compared && <td className="right">{change.text}</td>}
        {unknown && <td className="right roomy">{format.count(of.unknownCalls)}</td>}
      </>
    );
  };
  return (
    <table className="table explore-table">
      <caption className="unseen">{t('tableOf', { metric: t(`metrics.${question.metric}`), group: t(`groups.${question.by}`) })}</caption>
      <thead>
        <tr>
          <th scope="col" className="name">
            {question.by === 'tag' ? `${t('groups.tag')} ${question.tag}` : t(`groups.${question.by}`)}
          </th>
          <th scope="col" className="right" aria-sort="descending">
            {t(`metrics.${question.metric}`)}
          </th>
          {shares && (
            <th scope="col" className="right roomy">
              {t('share')}
            </th>
          )}
          {compared && (
            <th scope="col" className="right roomy">
              {t(`before.${question.compare ?? 'previous'}`)}
            </th>
          )}
          {compared && (
            <th scope="col" className="right">
              {t('change')}
            </th>
          )}
          {unknown && (
            <th scope="col" className="right roomy">
              {t('unknownCalls')}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {answer.items.map((item, n) => (
          <tr key={item.group}>
            <td className="name">
              <div className="explore-name">
                <i className="explore-mark" style={{ '--mark': colors[n] } as object} />
                <Name item={item} question={question} />
                {question.site === 'office' ? (
                  <Figures item={item} question={question} state={state} />
                ) : (
                  <Calls item={item} question={question} state={state} />
                )}
              </div>
            </td>
            {cells(item)}
          </tr>
        ))}
        {answer.other && (
          <tr>
            <td className="name second">
              <div className="explore-name">
                <i className="explore-mark" style={{ '--mark': colors.at(-1) } as object} />
                {t('other')}
              </div>
            </td>
            {cells(answer.other)}
          </tr>
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" className="name">
            {t('total')}
          </th>
          {cells(answer.total)}
        </tr>
      </tfoot>
    </table>
  );
}

/** A group's name, which narrows the question to its calls where that can be asked. */
function Name({ item, question }: { item: Item; question: Question }) {
  const { t } = useTranslation('explore');
  const words = useWords();
  const { search } = useLocation();
  const name = item.name ?? words(question.by, item.group);
  const only = narrowedTo(question, item.group);
  if (only === null) return <span>{name}</span>;
  const to = new URLSearchParams(search);
  for (const [of, value] of Object.entries(only)) to.set(of, value);
  const by = next(question.by);
  if (by === 'capability') to.delete('by');
  else to.set('by', by);
  return (
    <Link to={`?${to}`} title={t('narrow', { name, group: t(`groups.${by}`) })}>
      {name}
    </Link>
  );
}

/** The way to the calls of a group, where the list can be narrowed to them. */
function Calls({ item, question, state: { range } }: { item: Item; question: Question; state: RangeState }) {
  const { t } = useTranslation('explore');
  const only = narrowedTo(question, item.group);
  if (only === null) return null;
  const { application = null, ...all } = { ...question.only, ...only };
  if (question.metric === 'failures' || question.metric === 'failureRate') all.result ??= 'failure';
  return (
    <Link className="meta" to={callsPath(application, `?start=${range.start}&end=${range.end}`, choiceOf(all))}>
      {t('calls')}
    </Link>
  );
}

/** The way to the figures of a group, where the office has any. */
function Figures({ item, question, state: { range } }: { item: Item; question: Question; state: RangeState }) {
  const { t } = useTranslation('explore');
  const to = figuresOf(question, item.group, `start=${range.start}&end=${range.end}`);
  return to === null || (question.by !== 'owner' && item.name === null) ? null : (
    <Link className="meta" to={to}>
      {t('figures')}
    </Link>
  );
}
