import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import type { Code } from './reason';

type Type = Schemas['FailureReason']['type'];

/** A reason in a few words, as a column has room for: "Upstream answered 429". */
export function useReasonText(): (reason: { code: string | null; upstreamStatus: number | null }) => string {
  const { t } = useTranslation('calls');
  return ({ code, upstreamStatus }) =>
    code === null
      ? t('reason.none')
      : t(`reason.${code as Code}`, { status: upstreamStatus === null ? '' : String(upstreamStatus) }).trim();
}

/** The words of a reason as a filter names it: `type`, `type:code`, or nothing where none was recorded. */
export function useReasonWords(): (reason: string) => string {
  const { t, i18n } = useTranslation('calls');
  return useCallback(
    (reason) => {
      const [type = '', code] = reason.split(':');
      if (type === '') return t('reason.none');
      const key = code === undefined ? (`type.${type as Type}` as const) : (`reason.${code as Code}` as const);
      return i18n.exists(`calls:${key}`) ? t(key, { status: '' }).trim() : reason;
    },
    [t, i18n],
  );
}
