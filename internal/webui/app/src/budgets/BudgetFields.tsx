import '../ui/form/field.css';
import './budgets.css';
import { useState } from 'react';
import { useFormContext, useFormState } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { Input, Select } from '../ui/form/Form';
import { parseAmount, parseCurrency, parsePercents, PERIODS, wanted, type Period, type Typed } from './budgets';

const Line = Input<Typed>;
const Choice = Select<Typed>;

/** The fields of a budget for each period; those of which there is none are folded, but for the month where there is no other. */
export function BudgetFields() {
  const { t } = useTranslation('budgets');
  const { getValues } = useFormContext<Typed>();
  const { errors } = useFormState<Typed>();
  const [open, setOpen] = useState<readonly Period[]>(() => {
    const there = wanted(getValues());
    return there.length > 0 ? there : ['month'];
  });
  return (
    <>
      <p className="second limits-about">{t('unknownAbout')}</p>
      {PERIODS.map((period) => {
        const shown = open.includes(period) || errors[period] !== undefined; // what is wrong in there must be seen
        return (
          <details
            key={period}
            open={shown}
            onToggle={({ currentTarget }) =>
              setOpen((last) => [...last.filter((one) => one !== period), ...(currentTarget.open ? [period] : [])])
            }
          >
            <summary>{t(`each.${period}`)}</summary>
            {shown && <Fields period={period} />}
          </details>
        );
      })}
    </>
  );
}

function Fields({ period }: { period: Period }) {
  const { t } = useTranslation('budgets');
  const { getValues } = useFormContext<Typed>();
  /** Of a budget that is none nothing else is asked. */
  const checked = (ok: (text: string) => boolean, wrong: string) => (text: string) =>
    getValues(`${period}.amount`).trim() === '' || ok(text) ? undefined : wrong;
  return (
    <fieldset className="budget-grid" aria-label={t(`each.${period}`)}>
      <Line
        name={`${period}.amount`}
        label={t('amount')}
        hint={t('amountHint')}
        className="input number"
        inputMode="decimal"
        placeholder={t('none')}
        validate={(text) => (parseAmount(text) === undefined ? t('amountWrong') : undefined)}
      />
      <Line
        name={`${period}.currency`}
        label={t('currency')}
        hint={t('currencyHint')}
        className="input mono"
        maxLength={3}
        spellCheck={false}
        validate={checked((text) => parseCurrency(text) !== undefined, t('currencyWrong'))}
      />
      <Choice name={`${period}.action`} label={t('action')} hint={t('actionHint')}>
        {(['block', 'warn'] as const).map((one) => (
          <option key={one} value={one}>
            {t(`actions.${one}`)}
          </option>
        ))}
      </Choice>
      <Choice name={`${period}.unknown`} label={t('unknown')} hint={t('unknownHint')}>
        {(['allow', 'block'] as const).map((one) => (
          <option key={one} value={one}>
            {t(`unknowns.${one}`)}
          </option>
        ))}
      </Choice>
      <Line
        name={`${period}.thresholds`}
        label={t('thresholds')}
        hint={t('thresholdsHint')}
        className="input number"
        inputMode="text"
        validate={checked((text) => parsePercents(text) !== undefined, t('thresholdsWrong'))}
      />
    </fieldset>
  );
}
