import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { UNITS } from './draft';
import type { Alert } from './queries';

/** A value of an alert with its unit. */
export function useQuantity(): (alert: Pick<Alert, 'kind' | 'unit'>, value: number) => string {
  const { t } = useTranslation('alerts');
  const format = useFormat();
  return ({ kind, unit }, value) => {
    if (kind === 'p95') return format.duration(Math.round(value));
    const n = value.toLocaleString(format.language, value < 1 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 });
    if (kind === 'cost' || kind === 'dayClosed') return `${n} ${unit}`;
    return UNITS[kind] === 'percent' ? t('percent', { n }) : t('quantity', { n, unit: t(`units.${UNITS[kind]}`) });
  };
}
