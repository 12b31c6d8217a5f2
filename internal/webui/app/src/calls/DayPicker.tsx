import { useTranslation } from 'react-i18next';
import { Antd } from '../ui/page/Antd';
import { DatePicker, fromDay, toDay } from '../range/picker';

/** One day of the calendar up to today; loaded when it is first asked for. */
export default function DayPicker({ day, today, onDay }: { day: string; today: string; onDay: (day: string) => void }) {
  const { t } = useTranslation('calls');
  return (
    <Antd>
      <DatePicker
        autoFocus
        defaultOpen
        allowClear={false}
        aria-label={t('date')}
        format="YYYY-MM-DD"
        value={fromDay(day)}
        disabledDate={(date) => toDay(date) > today || toDay(date) < '2000-01-01'}
        onChange={(date) => date && !Array.isArray(date) && onDay(toDay(date))}
      />
    </Antd>
  );
}
