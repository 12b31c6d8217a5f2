import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { linesToShow } from './lines';
import { Money } from './Money';

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
    | 'lines'
    | 'reportedCost'
    | 'cost'
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
      {call.cost.length > 0 && (
        <div>
          <dt>{t('tokens.cost')}</dt>
          <dd className="number">
            <Money cost={call.cost} />
          </dd>
        </div>
      )}
      {call.reportedCost !== null && (
        <div>
          <dt>{t('tokens.reportedCost')}</dt>
          <dd className="number">
            {call.reportedCost.currency} {call.reportedCost.amount}
          </dd>
        </div>
      )}
      {linesToShow(call).map((line, i) => (
        <div key={i} className="across">
          <dt>{t('tokens.line')}</dt>
          <dd>
            {[
              line.model,
              line.tier,
              line.band > 0 ? t('tokens.band', { n: format.count(line.band) }) : null,
              ...Object.entries(line.meters).map(([meter, n]) => `${meter} ${format.count(n)}`),
            ]
              .filter(Boolean)
              .join(' · ')}
          </dd>
        </div>
      ))}
      {call.upstreamModel !== null && (
        <div>
          <dt>{t('tokens.upstreamModel')}</dt>
          <dd>{call.upstreamModel}</dd>
        </div>
      )}
    </>
  );
}
