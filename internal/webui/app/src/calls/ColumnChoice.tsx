import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { COLUMNS, usual, type Column } from './columns';

/** Which columns the list has; null is the usual ones. */
export function ColumnChoice({
  several,
  chosen,
  onChoose,
}: {
  several: boolean;
  chosen: readonly Column[];
  onChoose: (columns: string | null) => void;
}) {
  const { t } = useTranslation('calls');
  const [open, setOpen] = useState(false);
  const choose = (column: Column, on: boolean) => {
    const next = COLUMNS.filter((one) => (one === column ? on : chosen.includes(one)));
    if (next.length === 0) return; // one stays
    const text = next.join(',');
    onChoose(text === usual(several).join(',') ? null : text);
  };
  return (
    <details className="call-columns" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('columns.title')}</summary>
      {open && (
        <fieldset>
          <legend className="unseen">{t('columns.title')}</legend>
          {COLUMNS.filter((column) => several || column !== 'application').map((column) => (
            <label key={column} className="check">
              <input type="checkbox" checked={chosen.includes(column)} onChange={({ target }) => choose(column, target.checked)} />
              {t(`columns.${column}`)}
            </label>
          ))}
        </fieldset>
      )}
    </details>
  );
}
