import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';

/** What the answer to one call reported, as entries of a list of facts; or why nothing is known, and what limits were charged then. */
export function TokenFacts({
  call,
}: {
  call: Pick<
    Schemas['Call'],
    | 'usageState'
    | 'upstreamModel'
    | 'inputTokens'
    | 'outputTokens'
    | 'cachedTokens'
    | 'cacheWriteTokens'
    | 'reasoningTokens'
    | 'estimatedTokens'
  >;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const known = call.inputTokens !== null || call.outputTokens !== null;
  const parts = (
    [
      ['cached', call.cachedTokens],
      ['cacheWrite', call.cacheWriteTokens],
      ['reasoning', call.reasoningTokens],
    ] as const
  ).filter(([, n]) => n !== null);
  return (
    <>
      <div className={known ? undefined : 'across'}>
        <dt>{t('tokens.tokens')}</dt>
        <dd className="number" title={t(`tokens.state.${call.usageState ?? 'unknown'}`)}>
          {known ? (
            t('tokens.inOut', { input: format.count(call.inputTokens), output: format.count(call.outputTokens) })
          ) : (
            <>
              — <span className="meta">{t(`tokens.state.${call.usageState ?? 'unknown'}`)}</span>
            </>
          )}
          {known && call.usageState === 'partial' && <span className="meta"> · {t('tokens.atLeast')}</span>}
        </dd>
      </div>
      {parts.map(([key, n]) => (
        <div key={key}>
          <dt>{t(`tokens.${key}`)}</dt>
          <dd className="number">{format.count(n)}</dd>
        </div>
      ))}
      {call.estimatedTokens !== null && (
        <div>
          <dt>{t('tokens.estimated')}</dt>
          <dd className="number" title={t('tokens.estimatedWhy')}>
            {format.count(call.estimatedTokens)}
          </dd>
        </div>
      )}
      {call.upstreamModel !== null && (
        <div>
          <dt>{t('tokens.upstreamModel')}</dt>
          <dd>{call.upstreamModel}</dd>
        </div>
      )}
    </>
  );
}
