import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { LIMITS, type Limits } from './limits';

/** Writes limits in one line; `none` where there are none. */
export function useLimitsText(none: string): (limits: Limits) => string {
  const { t } = useTranslation();
  const format = useFormat();
  return (limits) =>
    LIMITS.filter((name) => limits[name] !== null)
      .map((name) => `${t(`limits.${name}`)} ${format.count(limits[name])}`)
      .join(', ') || none;
}
