import '../ui/table/records.css';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { listed, METERS } from '../tokens/meters';
import { Empty } from '../ui/page/Block';
import { useAnchor } from '../ui/page/useScroll';
import { CsvFoot } from '../ui/table/CsvButton';
import { Cell } from '../ui/table/Records';
import type { Price } from './offers';

const columns = ['of', 'input', 'cached', 'cacheWrite', 'output', 'from'] as const;

/** All prices of a capability that hold today. */
export function Prices({ prices, costBelieved }: Pick<Schemas['CapabilityDetails'], 'prices' | 'costBelieved'>) {
  const { t } = useTranslation('capabilities');
  useAnchor('price');
  return (
    <section id="price" className="block" aria-label={t('price.title')}>
      <div className="block-head">
        <h2>{t('price.title')}</h2>
      </div>
      {costBelieved && <p className="second">{t('price.believed')}</p>}
      {prices.length === 0 ? (
        <Empty text={t('price.none')} />
      ) : (
        <>
          <p className="meta offers-about">{t('price.about')}</p>
          <table className="table records own-prices">
            <caption className="unseen">{t('price.title')}</caption>
            <thead>
              <tr>
                {columns.map((key) => (
                  <th key={key} scope="col" className={key === 'of' ? '' : 'right'}>
                    {t(`price.${key}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {prices.map((price) => (
                <Row key={[price.upstreamModel, price.tier, price.fromBand].join(' ')} price={price} />
              ))}
            </tbody>
          </table>
          <CsvFoot name="prices" rows={prices} />
        </>
      )}
    </section>
  );
}

function Row({ price }: { price: Price }) {
  const { t } = useTranslation('capabilities');
  const format = useFormat();
  const rate = (amount: string | null) =>
    amount === null ? <span className="meta">{t('price.asInput')}</span> : `${price.currency} ${amount}`;
  return (
    <tr>
      <td>
        {price.upstreamModel === null ? t('price.any') : <code>{price.upstreamModel}</code>}
        {price.tier !== null && <span className="meta record-line">{t('price.tier', { tier: price.tier })}</span>}
        {price.fromBand !== 0 && <span className="meta record-line">{t('price.above', { n: format.count(price.fromBand) })}</span>}
        {listed(price.amounts).map(({ meter, amount }) => (
          <span key={meter} className="meta record-line">
            {t(`meters.${meter}`)} {price.currency} {amount} {t(`per.${METERS[meter]}`)}
          </span>
        ))}
      </td>
      {(['input', 'cached', 'cacheWrite', 'output'] as const).map((key) => (
        <Cell key={key} label={t(`price.${key}`)} className="right number">
          {rate(price[key])}
        </Cell>
      ))}
      <Cell label={t('price.from')} className="right number">
        {price.from}
      </Cell>
    </tr>
  );
}
