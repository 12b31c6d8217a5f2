import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { Money } from '../tokens/Money';
import { together } from '../tokens/tokens';
import type { Call } from './queries';
import { Result } from './Result';
import { useReasonText } from './useReasonText';

/** What a list of calls can say of each, in the order in which it stands. */
export const COLUMNS = [
  'time',
  'application',
  'model',
  'result',
  'status',
  'reason',
  'duration',
  'firstByte',
  'tokens',
  'speed',
  'cost',
  'key',
  'upstreamModel',
  'tags',
  'user',
  'attempts',
] as const;
export type Column = (typeof COLUMNS)[number];

/** Those that are shown where none are chosen. */
export const usual = (several: boolean): Column[] =>
  COLUMNS.filter((column, n) => n < COLUMNS.indexOf('firstByte') && (several || column !== 'application'));

/** The columns that a URL names; those that there are not count for nothing. */
export function columnsOf(text: string | null, several: boolean): Column[] {
  const named = (text ?? '').split(',');
  const found = COLUMNS.filter((column) => named.includes(column) && (several || column !== 'application'));
  return found.length === 0 ? usual(several) : found;
}

const numbers: readonly Column[] = ['status', 'duration', 'firstByte', 'tokens', 'speed', 'cost', 'attempts'];

/** Where the cells of a column stand, and how wide: calls.css knows them by name. */
export const cellOf = (column: Column) => ({ 'data-column': column, className: numbers.includes(column) ? 'right' : 'cut' });

/** Output tokens of a second, from the first byte on; null where that is not known. */
export function speedOf({
  outputTokens,
  durationMs,
  firstByteMs,
}: Pick<Call, 'outputTokens' | 'durationMs' | 'firstByteMs'>): number | null {
  if (outputTokens === null || firstByteMs === null || durationMs <= firstByteMs) return null;
  return (outputTokens * 1000) / (durationMs - firstByteMs);
}

/** What a call has in a column, and what is to be read of it in full. `keys` are names of keys by their ids. */
export function useCells(keys: ReadonlyMap<string, string>): Record<Column, (call: Call) => { text: ReactNode; title?: string }> {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const reason = useReasonText();
  const whole = (text: string) => ({ text, title: text });
  return {
    time: ({ startTime }) => ({ text: format.clock(startTime), title: format.exactTime(startTime) }),
    application: ({ application }) => whole(application?.name ?? ''),
    model: ({ model }) => whole(model === '' ? t('common:metrics.unspecified') : model),
    result: (call) => ({ text: <Result call={call} /> }),
    status: ({ statusCode }) => ({ text: statusCode }),
    reason: (call) => (call.reason ? whole(reason(call.reason)) : { text: '' }),
    duration: ({ durationMs }) => ({ text: format.duration(durationMs) }),
    firstByte: ({ firstByteMs }) => ({ text: format.duration(firstByteMs) }),
    tokens: ({ inputTokens, outputTokens }) => ({ text: format.count(together({ input: inputTokens, output: outputTokens })) }),
    speed: (call) => {
      const speed = speedOf(call);
      return { text: speed === null ? '—' : speed.toFixed(1) };
    },
    cost: ({ cost }) => ({ text: <Money cost={cost} /> }),
    key: ({ keyId }) => (keyId === null ? { text: '' } : { text: keys.get(keyId) ?? keyId.slice(0, 8), title: keyId }),
    upstreamModel: ({ upstreamModel }) => whole(upstreamModel ?? ''),
    tags: ({ tags }) =>
      whole(
        Object.entries(tags)
          .map((tag) => tag.join('='))
          .join(' '),
      ),
    user: ({ user }) => whole(user ?? ''),
    attempts: ({ attempts }) => ({ text: attempts }),
  };
}
