import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { count } from '../../format/format';
import { useTellFault } from '../page/faultText';
import { today } from '../../range/days';
import { notify } from '../page/notice';
import type { AskPage, Period } from './saveCsv';

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
  const tell = useTellFault();
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const { saveCsv } = await import('./saveCsv');
      const { saved, total } = await saveCsv(name, period ?? { start: today(), end: today() }, rows);
      if (saved < total) notify('warn', t('csv.cut', { n: count(saved), total: count(total) }));
    } catch (error) {
      tell(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" className="quiet" disabled={busy} onClick={() => void save()}>
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
