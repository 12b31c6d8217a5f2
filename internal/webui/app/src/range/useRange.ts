import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { notify } from '../ui/page/notice';
import { useSearch } from '../ui/table/useSearch';
import { today as beijingToday } from './days';
import { before, presetOf, read, written, type Range } from './range';

/** The range of a page: always from the URL, always Beijing days. */
export interface RangeState {
  range: Range;
  today: string;
  holdsToday: boolean;
  /** Whether the period before is asked for. */
  comparing: boolean;
  previous: { start: string; end: string };
  setRange: (range: Range) => void;
  setComparing: (on: boolean) => void;
}

export function useRange(): RangeState {
  const { t } = useTranslation();
  const [search, setSearch] = useSearch();
  const today = beijingToday();
  const asked = read(search, today);
  const range = asked ?? presetOf('7d', today);
  useEffect(() => {
    if (asked) return;
    notify('warn', t('range.bad'));
    setSearch(written(null), { replace: true });
  });
  return {
    range,
    today,
    holdsToday: range.start <= today && range.end >= today,
    comparing: search.get('compare') !== 'off',
    previous: before(range),
    setRange: (next) => setSearch(written(next)),
    setComparing: (on) => setSearch({ compare: on ? null : 'off' }, { replace: true }),
  };
}

/**
 * Whether figures on screen wait for those of another range: till then they stay as they are, which spares drawing them
 * for the range they are not of. A single day's page is drawn at once, since its hours are asked for beside its figures.
 */
export const leaving = ({ isPlaceholderData }: { isPlaceholderData: boolean }, { range }: RangeState): boolean =>
  isPlaceholderData && range.days > 1;

/** How `memo` compares what may be leaving: till the other figures are there, nothing of it is drawn anew. */
export const whileLeaving = (_: unknown, { leaving }: { leaving: boolean }): boolean => leaving;
