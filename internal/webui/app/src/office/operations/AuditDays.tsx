import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DatePicker, fromDay, toDay } from '../../range/picker';
import { Antd } from '../../ui/page/Antd';

/** Beijing days of the audit trail, either end open; loaded with the page's filters. */
export default function AuditDays({
  start,
  end,
  today,
  onChange,
}: {
  start: string;
  end: string;
  today: string;
  onChange: (days: { start: string; end: string }) => void;
}) {
  const { t } = useTranslation('common');
  // The same objects in every render: new ones would undo the first day that was clicked.
  const value = useMemo(() => [start === '' ? null : fromDay(start), end === '' ? null : fromDay(end)] as const, [start, end]);
  return (
    <Antd>
      <DatePicker.RangePicker
        className="range-dates"
        allowEmpty
        format="YYYY-MM-DD"
        value={[value[0], value[1]]}
        disabledDate={(date) => toDay(date) > today || toDay(date) < '2000-01-01'}
        placeholder={[t('range.start'), t('range.end')]}
        onChange={(dates) => onChange({ start: dates?.[0] ? toDay(dates[0]) : '', end: dates?.[1] ? toDay(dates[1]) : '' })}
      />
    </Antd>
  );
}
