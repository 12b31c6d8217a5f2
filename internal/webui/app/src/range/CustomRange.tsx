import { useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Dayjs } from 'dayjs';
import { configQueries } from '../session/queries';
import { Antd } from '../ui/page/Antd';
import { addDays } from './days';
import { DatePicker, fromDay, toDay } from './picker';
import { custom, MOST_DAYS, type Range } from './range';

/** Nothing to see: as long as it stands, the calendar finds the colours and sizes of its theme computed. */
export const Warm = () => <Antd>{null}</Antd>;

/** The calendar, loaded when it is first asked for. Days that cannot be chosen, or are no longer kept, are off. */
export default function CustomRange({
  range,
  today,
  open,
  onOpen,
  onChange,
}: {
  range: Range;
  today: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  onChange: (range: Range) => void;
}) {
  const { t } = useTranslation();
  // The same objects in every render: new ones would undo the first day that was clicked.
  const value = useMemo<[Dayjs, Dayjs]>(() => [fromDay(range.start), fromDay(range.end)], [range.start, range.end]);
  // Of the two months the second is at most this one: days of later ones cannot be chosen.
  const newest = useMemo(() => fromDay(today), [today]);
  const { data: config } = useQuery(configQueries.get());
  const oldest = config ? addDays(today, -config.statisticsRetentionDays) : '2000-01-01';
  const [first, setFirst] = useState<string | null>(null);
  // Asked of each day of both months, several times: what is the same for all is found out before.
  const [from, to] = first === null ? [oldest, today] : [addDays(first, 1 - MOST_DAYS), addDays(first, MOST_DAYS - 1)];
  const off = (date: Dayjs) => {
    const day = toDay(date);
    return day < oldest || day < from || day > to;
  };
  return (
    <Antd>
      <DatePicker.RangePicker
        className="range-dates"
        autoFocus
        open={open}
        onOpenChange={(next) => {
          onOpen(next);
          setFirst(null);
        }}
        allowClear={false}
        format="YYYY-MM-DD"
        value={value}
        maxDate={newest}
        disabledDate={off}
        placeholder={[t('range.start'), t('range.end')]}
        onCalendarChange={(dates, _texts, info) =>
          setFirst(info.range === 'start' && dates?.[0] ? toDay(dates[0]) : dates?.[1] ? toDay(dates[1]) : null)
        }
        onChange={(dates) => {
          const next = dates?.[0] && dates[1] ? custom(toDay(dates[0]), toDay(dates[1]), today) : null;
          if (next) onChange(next);
        }}
      />
    </Antd>
  );
}
