import { useTranslation } from 'react-i18next';
import { count } from '../../format/format';
import { today } from '../../range/days';
import { notify } from '../page/notice';
import type { AskPage, Period } from './saveCsv';
import { useSaving } from './useSaving';

interface File {
  name: string;
  /** The Beijing days it is of, which are in its name, too; today where they are left out. */
  period?: Period;
  /** What is in it: rows as the API answered them, or how a page of a list is asked for. */
  rows: readonly object[] | AskPage;
}

/** Saves the rows of a table, or all pages of its list. */
export function CsvButton({ name, period, rows }: File) {
  const { t } = useTranslation();
  const saving = useSaving(async ({ saveCsv }) => {
    const { saved, total } = await saveCsv(name, period ?? { start: today(), end: today() }, rows);
    if (saved < total) notify('warn', t('csv.cut', { n: count(saved), total: count(total) }));
  });
  return (
    <button type="button" className="quiet" disabled={saving.busy} onClick={saving.start}>
      {t('csv.download')}
    </button>
  );
}

/** The same below its table. */
export const CsvFoot = (file: File) => (
  <p className="csv-foot">
    <CsvButton {...file} />
  </p>
);
