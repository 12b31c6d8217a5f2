import './tokens.css';
import { useTranslation } from 'react-i18next';
import { ABSENT } from '../format/format';
import { useFormat } from '../format/useFormat';
import { Code } from '../ui/Copy';
import { amount, money, reported, unreportedShare, type Cost, type Tokens, type Total } from './tokens';

/** What a request says so that its stream ends with its usage. */
const ASK_FOR_USAGE = '"stream_options": {"include_usage": true}';

/** From this number on a tile has room for the short form alone. */
const SHORTENED = 10_000_000;

/** What the calls of a period used and what that is estimated to cost; nothing where nothing was reported. */
export function TokensBlock({ tokens, cost, totals }: { tokens: Tokens; cost: readonly Cost[]; totals: readonly Total[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const share = unreportedShare(tokens);
  if (!reported(tokens) && share === null) return null;
  const part = (n: number | null, of: number | null) => `${of ? (((n ?? 0) / of) * 100).toFixed(1) : 0}%`;
  const short = (n: number | null) => (n !== null && n >= SHORTENED ? format.axis(n) : format.count(n));
  const costs = cost.filter((one) => one.amount !== null);
  const unpriced = cost[0] && cost[0].unpricedCalls > 0 ? t('tokens.unpriced', { n: format.count(cost[0].unpricedCalls) }) : undefined;
  // What is in one currency already needs no other.
  const others = totals.filter(({ currency }) => costs.some((one) => one.currency !== currency));
  return (
    <section className="block tokens" aria-label={t('tokens.title')}>
      <div className="block-head">
        <h2>{t('tokens.title')}</h2>
      </div>
      {reported(tokens) && (
        <>
          <dl className="tiles" data-of={costs.length > 1 ? 5 : 4}>
            <Tile
              label={t('tokens.input')}
              value={short(tokens.input)}
              exact={format.count(tokens.input)}
              note={tokens.cached === null ? undefined : t('tokens.cachedShare', { share: part(tokens.cached, tokens.input) })}
            />
            <Tile
              label={t('tokens.output')}
              value={short(tokens.output)}
              exact={format.count(tokens.output)}
              note={tokens.reasoning === null ? undefined : t('tokens.reasoningShare', { share: part(tokens.reasoning, tokens.output) })}
            />
            {costs.map((one) => (
              <Tile
                key={one.currency}
                label={t('tokens.costIn', { currency: one.currency ?? '' })}
                value={amount(one)}
                exact={`${one.currency} ${one.amount}`}
                note={unpriced}
              />
            ))}
            {costs.length === 0 && <Tile label={t('tokens.cost')} value={ABSENT} note={unpriced} />}
            <Tile
              label={t('tokens.counted')}
              value={format.count(tokens.reportedCalls)}
              note={tokens.partialCalls > 0 ? t('tokens.partial', { n: format.count(tokens.partialCalls) }) : undefined}
            />
          </dl>
          {others.map((total) => (
            <p
              key={total.currency}
              className="meta tokens-foot"
              title={total.amount === null ? undefined : `${total.currency} ${total.amount}`}
            >
              {total.amount === null
                ? t('tokens.noTotal', { currency: total.currency, missing: total.missing.join(', ') })
                : t('tokens.altogether', { amount: money(total) })}
            </p>
          ))}
          <p className="meta tokens-foot">{t('tokens.estimate')}</p>
        </>
      )}
      {share !== null && (
        <div className="stack tokens-hint" role="note">
          <p>{t('tokens.unreported', { share: `${Math.round(share * 100)}%` })}</p>
          <Code text={ASK_FOR_USAGE} />
        </div>
      )}
    </section>
  );
}

function Tile({ label, value, exact, note }: { label: string; value: string; exact?: string; note?: string | undefined }) {
  return (
    <div className="tile">
      <dt className="second">{label}</dt>
      <dd>
        <strong title={exact}>{value}</strong>
        {note && <span className="meta">{note}</span>}
      </dd>
    </div>
  );
}
