import '../ui/table/records.css';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { callsPath } from '../calls/filter';
import { useFormat } from '../format/useFormat';
import { Copy } from '../ui/Copy';
import { CsvFoot } from '../ui/table/CsvButton';
import { Counted } from '../ui/table/Counted';
import { Cell } from '../ui/table/Records';
import { SortHead } from '../ui/table/SortHead';
import { useOrder } from '../ui/table/useOrder';
import { useSearch } from '../ui/table/useSearch';
import { costsMore, rateIn, usualOf, type Offer } from './offers';

const columns = ['name', 'input', 'output', 'calls', 'rate', 'p95', 'mine'] as const;

/** Capabilities under their groups in the catalog's order, or by a column without them. */
export function OfferTable({ offers }: { offers: readonly Offer[] }) {
  const { t } = useTranslation('capabilities');
  const [search, setSearch] = useSearch();
  const currency = usualOf(offers);
  const { rows, head } = useOrder(
    'sort',
    offers,
    {
      catalog: () => null,
      name: ({ capability }) => capability.name,
      input: (offer) => rateIn(offer, currency, 'input'),
      output: (offer) => rateIn(offer, currency, 'output'),
      calls: ({ calls }) => calls,
      rate: ({ calls, successes }) => (calls === null || calls === 0 ? null : successes / calls),
      p95: ({ p95Ms }) => p95Ms,
      mine: ({ capability }) => capability.applicationCount,
    },
    'catalog',
  );
  const grouped = head('catalog').sorted !== undefined;
  return (
    <>
      <p className="meta offers-about">{t('about')}</p>
      {/* where there are no heads to press */}
      <div className="filters close">
        <select
          className="select"
          aria-label={t('sort')}
          value={search.get('sort') ?? ''}
          onChange={({ target }) => setSearch({ sort: target.value }, { replace: true })}
        >
          <option value="">{t('inOrder')}</option>
          {columns.map((by) => {
            const least = by === 'input' || by === 'output' || by === 'p95'; // the least comes first, which is the better
            return (
              <option key={by} value={least ? `-${by}` : by}>
                {t(`columns.${by}`)}
              </option>
            );
          })}
        </select>
      </div>
      <table className="table records offers">
        <caption className="unseen">{t('title')}</caption>
        <thead>
          <tr>
            {columns.map((by) => (
              <SortHead key={by} className={by === 'name' ? '' : 'right'} {...head(by)}>
                {t(`columns.${by}`)}
              </SortHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((offer, n) => [
            grouped && offer.group !== rows[n - 1]?.group && (
              <tr key={`group ${offer.group}`} className="offers-group">
                <th scope="rowgroup" colSpan={columns.length}>
                  <h2>{offer.group}</h2>
                </th>
              </tr>
            ),
            <Row key={offer.capability.id} offer={offer} grouped={grouped} />,
          ])}
        </tbody>
      </table>
      <CsvFoot
        name="capabilities"
        rows={rows.map(({ capability, group, calls, successes, p95Ms }) => ({
          ...capability,
          group,
          calls,
          successes: calls === null ? null : successes,
          p95Ms,
        }))}
      />
    </>
  );
}

function Row({ offer, grouped }: { offer: Offer; grouped: boolean }) {
  const { t } = useTranslation('capabilities');
  const format = useFormat();
  const { id, name, description, upstreamModel, price, applicationCount } = offer.capability;
  const page = `/capabilities/${encodeURIComponent(id)}`;
  return (
    <tr>
      <td>
        <Link className="offer-name" to={page}>
          {name}
        </Link>
        <div className="capability-id">
          <code>{id}</code>
          <Copy bare text={id} label={t('copyId', { id })} />
        </div>
        {!grouped && <span className="meta record-line">{offer.group}</span>}
        {description !== '' && (
          <span className="meta record-line offer-text" title={description}>
            {description}
          </span>
        )}
      </td>
      <Cell label={t('columns.input')} className="right number">
        {price ? `${price.currency} ${price.input}` : '—'}
        {price && price.upstreamModel !== null && price.upstreamModel !== upstreamModel && (
          <span className="meta record-line">{price.upstreamModel}</span>
        )}
        {costsMore(offer.capability) && (
          <Link className="meta record-line" to={`${page}#price`} aria-label={t('moreOf', { name })}>
            {t('more')}
          </Link>
        )}
      </Cell>
      <Cell label={t('columns.output')} className="right number">
        {price ? `${price.currency} ${price.output}` : '—'}
      </Cell>
      <Cell label={t('columns.calls')} className="right number">
        <Counted n={offer.calls} to={callsPath(null, '', { model: id })} label={t('callsOf', { name })} />
      </Cell>
      <Cell label={t('columns.rate')} className="right number">
        {format.rate(offer.successes, offer.calls ?? 0)}
      </Cell>
      <Cell label={t('columns.p95')} className="right number">
        {format.duration(offer.p95Ms)}
      </Cell>
      <Cell label={t('columns.mine')} className="right number">
        <Counted n={applicationCount} to={`${page}#applications`} label={t('mineOf', { name })} />
      </Cell>
    </tr>
  );
}
