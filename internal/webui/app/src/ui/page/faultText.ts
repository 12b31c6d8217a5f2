import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/error';
import type zh from '../../locale/zh/common';
import { notify } from './notice';

type Known = keyof typeof zh.error;

/** What an error says: our sentence for its code first, the server's own below. */
export function useFaultText() {
  const { t, i18n } = useTranslation();
  return (error: unknown): { title: string; detail: string; code: string } => {
    if (!(error instanceof ApiError)) return { title: t('state.failed'), detail: '', code: '' };
    if (error.status === 0) return { title: t('state.unreachable'), detail: '', code: '' };
    const known = i18n.exists(`error.${error.code}`);
    return {
      title: known ? t(`error.${String(error.code) as Known}`) : t('state.failed'),
      detail: error.message,
      code: error.code === 0 ? String(error.status) : String(error.code),
    };
  };
}

/** Both sentences of a fault in one. */
export const faultSentence = ({ title, detail }: { title: string; detail: string }): string =>
  detail !== '' && detail !== title ? `${title} ${detail}` : title;

/** The request id to give to who looks after the service; null where the fault is none of its own. */
export const requestIdOf = (error: unknown): string | null => (error instanceof ApiError && error.status >= 500 ? error.requestId : null);

/** Says at the edge of the page what failed. */
export function useTellFault(): (error: unknown) => void {
  const faultText = useFaultText();
  return (error) => notify('failed', faultText(error).title, requestIdOf(error));
}

/** Counts Retry-After down; 0 when trying again makes sense. */
export function useWait(error: unknown): number {
  const seconds = error instanceof ApiError && error.status === 429 ? (error.retryAfter ?? 0) : 0;
  const [left, setLeft] = useState({ of: error, seconds });
  if (left.of !== error) setLeft({ of: error, seconds });
  useEffect(() => {
    if (left.seconds <= 0) return;
    const timer = setTimeout(() => setLeft({ of: left.of, seconds: left.seconds - 1 }), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return left.seconds;
}
