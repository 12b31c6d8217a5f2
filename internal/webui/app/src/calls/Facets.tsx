import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { MOST_DAYS_READ } from '../range/range';
import type { RangeState } from '../range/useRange';
import { Block } from '../ui/page/Block';
import type { Choice, Filter } from './filter';
import { callQueries, type Facet, type Facets as Counts } from './queries';
import { useReasonWords } from './useReasonText';

const FACETS = ['application', 'model', 'result', 'status', 'reason', 'key'] as const satisfies readonly Facet[];

/** Values of a filter that are shown at first. */
const FEW = 5;

/** Each filter's most frequent values with how many calls they would find; a click chooses one, another one takes it away. */
export function Facets({
  filter,
  until,
  state,
  several,
  choice,
  onChoose,
}: {
  filter: Filter;
  until: string | null;
  state: RangeState;
  /** Whether applications can be told apart. */
  several: boolean;
  choice: Choice;
  onChoose: (change: Partial<Choice>) => void;
}) {
  const { t } = useTranslation('calls');
  const [open, setOpen] = useState(() => matchMedia('(min-width: 1024px)').matches);
  const tooLong = state.range.days > MOST_DAYS_READ;
  const query = useQuery({ ...callQueries.facets(filter, until, state.holdsToday), enabled: open && !tooLong });
  return (
    <details className="call-facets" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('facets.title')}</summary>
      {tooLong ? (
        <p className="meta">{t('facets.tooLong', { n: String(MOST_DAYS_READ) })}</p>
      ) : (
        <Block query={query} height={148}>
          {(counts) => (
            <div className="call-facets-of">
              {FACETS.filter((facet) => several || facet !== 'application').map((facet) => (
                <One key={facet} facet={facet} values={counts[facet]} choice={choice} onChoose={onChoose} />
              ))}
            </div>
          )}
        </Block>
      )}
    </details>
  );
}

function One({
  facet,
  values,
  choice,
  onChoose,
}: {
  facet: Facet;
  values: Counts[Facet];
  choice: Choice;
  onChoose: (change: Partial<Choice>) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const reasons = useReasonWords();
  const [all, setAll] = useState(false);
  const chosen = choice[facet] === null ? null : String(choice[facet]);
  if (values.length === 0) return null;
  const words = ({ value, name }: Counts[Facet][number]): string => {
    switch (facet) {
      case 'result':
        return t(value === 'success' ? 'result.success' : 'result.failure');
      case 'reason':
        return reasons(value);
      case 'model':
        return value === '' ? t('common:metrics.unspecified') : value;
      default:
        return name ?? value;
    }
  };
  const shown = all ? values : values.filter(({ value }, n) => n < FEW || value === chosen);
  return (
    <div role="group" aria-label={t('facets.of', { name: t(`columns.${facet}`) })}>
      <p className="meta">{t(`columns.${facet}`)}</p>
      {shown.map((one) => (
        <button
          key={one.value}
          type="button"
          className="quiet call-facet"
          aria-pressed={one.value === chosen}
          title={words(one)}
          onClick={() => onChoose({ [facet]: one.value === chosen ? null : facet === 'status' ? Number(one.value) : one.value })}
        >
          <span className="cut">{words(one)}</span> <span className="number">{format.count(one.calls)}</span>
        </button>
      ))}
      {values.length > shown.length && (
        <button type="button" className="quiet meta" onClick={() => setAll(true)}>
          {t('facets.more', { n: String(values.length - shown.length) })}
        </button>
      )}
    </div>
  );
}
