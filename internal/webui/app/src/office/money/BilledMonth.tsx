import { DatePicker, fromDay, toDay } from '../../range/picker';
import { Antd } from '../../ui/page/Antd';

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** The month of an invoice, as 2026-08, in the page's language and in every browser; loaded with the page's filters. */
export default function BilledMonth({
  id,
  month,
  today,
  onMonth,
}: {
  id: string;
  month: string;
  today: string;
  onMonth: (month: string) => void;
}) {
  return (
    <Antd>
      <DatePicker
        id={id}
        picker="month"
        allowClear={false}
        format="YYYY-MM"
        value={MONTH.test(month) ? fromDay(`${month}-01`) : null}
        disabledDate={(date) => toDay(date) > today || toDay(date) < '2000-01-01'}
        onChange={(date) => date && !Array.isArray(date) && onMonth(toDay(date).slice(0, 7))}
      />
    </Antd>
  );
}
