import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { MOST_DAYS_READ } from '../range/range';
import type { RangeState } from '../range/useRange';
import { Block } from '../ui/page/Block';
import { Tag } from '../ui/Tag';
import type { Choice, Filter } from './filter';
import { callQueries } from './queries';

/** Milliseconds since the last failure of a message, in which it still happens. */
const STILL = 15 * 60_000;

/** What the messages of the failures say, most failures first; a click lists exactly these, another one all again. What is chosen among them leaves the others there. */
export function Messages({
  filter,
  until,
  state,
  several,
  chosen,
  onChoose,
}: {
  filter: Filter;
  until: string | null;
  state: RangeState;
  /** Whether applications can be told apart. */
  several: boolean;
  chosen: string | null;
  onChoose: (change: Partial<Choice>) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const [open, setOpen] = useState(filter.result === 'failure');
  const tooLong = state.range.days > MOST_DAYS_READ;
  const succeeded = filter.result === 'success';
  const query = useQuery({
    ...callQueries.messages({ ...filter, message: null }, until, state.holdsToday),
    enabled: open && !tooLong && !succeeded,
  });
  const format = useFormat();
  return (
    <details className="call-facets" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('messages.title')}</summary>
      {!open ? null : tooLong ? (
        <p className="meta">{t('facets.tooLong', { n: String(MOST_DAYS_READ) })}</p>
      ) : succeeded ? (
        <p className="meta">{t('messages.none')}</p>
      ) : (
        <Block query={query} height={148}>
          {({ items, other }) =>
            items.length === 0 ? (
              <p className="meta">{t('messages.none')}</p>
            ) : (
              <>
                <table className="table call-messages">
                  <caption className="unseen">{t('messages.title')}</caption>
                  <thead>
                    <tr>
                      <th scope="col" className="name">
                        {t('fact.message')}
                      </th>
                      {several && (
                        <th scope="col" className="wide">
                          {t('why.most')}
                        </th>
                      )}
                      <th scope="col" className="right">
                        {t('common:metrics.failures')}
                      </th>
                      <th scope="col" className="right wider">
                        {t('messages.first')}
                      </th>
                      <th scope="col" className="right">
                        {t('why.last')}
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((item) => (
                      <Row
                        key={item.message}
                        item={item}
                        several={several}
                        now={query.dataUpdatedAt}
                        chosen={item.message === chosen}
                        onChoose={onChoose}
                      />
                    ))}
                  </tbody>
                </table>
                {other.messages > 0 && (
                  <p className="meta">{t('messages.rest', { messages: format.count(other.messages), n: format.count(other.failures) })}</p>
                )}
              </>
            )
          }
        </Block>
      )}
    </details>
  );
}

function Row({
  item,
  several,
  now,
  chosen,
  onChoose,
}: {
  item: Schemas['FailureMessage'];
  several: boolean;
  /** When this was read. */
  now: number;
  chosen: boolean;
  onChoose: (change: Partial<Choice>) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const { message, newest, failures, firstSeen, lastSeen, applicationCount, topApplication } = item;
  return (
    <tr>
      <td className="name">
        <button
          type="button"
          className="quiet call-message"
          title={newest}
          aria-pressed={chosen}
          onClick={() => onChoose({ message: chosen ? null : message })}
        >
          {message}
        </button>
      </td>
      {several && (
        <td className="cut wide">
          <button type="button" className="quiet" onClick={() => onChoose({ message, application: topApplication.id })}>
            {topApplication.name}
          </button>
          {applicationCount > 1 && (
            <span className="meta number">
              {' '}
              {t('why.of', { n: format.count(topApplication.failures), apps: format.count(applicationCount) })}
            </span>
          )}
        </td>
      )}
      <td className="right number">{format.count(failures)}</td>
      <td className="right number wider" title={format.exactTime(firstSeen)}>
        {format.time(firstSeen)}
      </td>
      <td className="right number" title={format.exactTime(lastSeen)}>
        {now - Date.parse(lastSeen) < STILL ? <Tag kind="failed">{t('messages.still')}</Tag> : format.time(lastSeen)}
      </td>
    </tr>
  );
}
