import '../../ui/form/field.css';
import '../office.css';
import './prices.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../format/useFormat';
import { today } from '../../range/days';
import { AskButton } from '../../ui/AskButton';
import { Block, Empty, TableBones } from '../../ui/page/Block';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { notify } from '../../ui/page/notice';
import { CsvFoot } from '../../ui/table/CsvButton';
import { Cell } from '../../ui/table/Records';
import { Tag } from '../../ui/Tag';
import { useAskedToCreate } from '../../ui/table/useAskedToCreate';
import { useSearch } from '../../ui/table/useSearch';
import { useTitle } from '../../ui/page/useTitle';
import { Believed } from './Believed';
import { PriceForm } from './PriceForm';
import { listed, METERS } from '../../tokens/meters';
import { histories, type Held, type Price } from './prices';
import { Rates } from './Rates';
import { officeQueries } from '../queries';
import { useDeletePrice } from '../writes';

const columns = ['capability', 'from', 'currency', 'input', 'cached', 'cacheWrite', 'output'] as const;
const kinds = { now: 'ok', past: 'off', coming: 'warn' } as const;

/** What tokens cost: each price with the days it holds on. The capability chosen stands in the URL. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('prices.title'));
  const [search, setSearch] = useSearch();
  const capability = search.get('capability') ?? '';
  const query = useQuery(officeQueries.prices());
  const [form, setForm] = useState<{ price: Price | null; of: Wanted } | null>(null);
  const prices = query.data ?? [];
  const create = () => setForm({ price: null, of: { capability, model: '', from: today() } });
  useAskedToCreate(create, query.data !== undefined);
  return (
    <>
      <div className="page-head">
        <h1>{t('prices.title')}</h1>
        {!form && (
          <Button kind="primary" disabled={query.data === undefined} onClick={create}>
            <Icon name="plus" />
            {t('prices.add')}
          </Button>
        )}
      </div>
      {form && (
        <PriceForm
          key={form.price?.id ?? JSON.stringify(form.of)}
          price={form.price}
          prices={prices}
          {...form.of}
          onClose={() => setForm(null)}
        />
      )}
      <Unpriced onPrice={(of) => setForm({ price: null, of })} />
      <section className="block" aria-label={t('prices.title')}>
        <p className="second prices-about">{t('prices.about')}</p>
        <Choice prices={prices} capability={capability} onChoose={(one) => setSearch({ capability: one })} />
        <Block
          query={query}
          height={240}
          bones={<TableBones roomy className="records late prices" head={<Columns />} rows={4} columns={8} />}
        >
          {(all) => {
            const held = histories(all, today()).filter(({ price }) => capability === '' || price.capabilityId === capability);
            if (held.length > 0)
              return (
                <>
                  <Table held={held} onCorrect={(price) => setForm({ price, of: { capability, model: '', from: price.from } })} />
                  <CsvFoot name="prices" rows={held.map(({ price, until, state }) => ({ ...price, until, state }))} />
                </>
              );
            return <Empty text={capability === '' ? t('prices.empty') : t('prices.none', { name: capability })} />;
          }}
        </Block>
      </section>
      <Believed />
      <Rates />
    </>
  );
}

/** What a new price is to be for. */
interface Wanted {
  capability: string;
  model: string;
  from: string;
}

/** What was used this week and has no price; nothing where everything has. */
function Unpriced({ onPrice }: { onPrice: (of: Wanted) => void }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const { data } = useQuery(officeQueries.unpriced());
  if (!data || data.items.length === 0) return null;
  return (
    <section className="block prices-unpriced" aria-label={t('prices.unpriced.title')}>
      <h2>{t('prices.unpriced.title')}</h2>
      <p className="second">{t('prices.unpriced.about', { n: format.count(data.total) })}</p>
      <ul className="suggestions" tabIndex={0} aria-label={t('prices.unpriced.title')}>
        {data.items.map((one) => (
          <li key={`${one.capabilityId} ${one.upstreamModel}`}>
            <span className="grow">
              <strong>{one.capabilityId}</strong>{' '}
              {one.upstreamModel === null ? <span className="meta">{t('prices.unpriced.unnamed')}</span> : <code>{one.upstreamModel}</code>}
              <span className="meta record-line">
                {t('prices.unpriced.used', {
                  calls: format.count(one.calls),
                  input: format.count(one.input),
                  output: format.count(one.output),
                  day: one.lastDay,
                })}
              </span>
            </span>
            <button
              type="button"
              className="quiet"
              data-edge
              onClick={() => onPrice({ capability: one.capabilityId, model: one.upstreamModel ?? '', from: data.start })}
              aria-label={t('prices.unpriced.priceOf', { name: [one.capabilityId, one.upstreamModel ?? ''].join(' ').trim() })}
            >
              {t('prices.unpriced.price')}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Choice({
  prices,
  capability,
  onChoose,
}: {
  prices: readonly Price[];
  capability: string;
  onChoose: (capability: string) => void;
}) {
  const { t } = useTranslation('admin');
  const priced = [...new Set([...prices.map(({ capabilityId }) => capabilityId), ...(capability === '' ? [] : [capability])])].sort();
  return (
    <div className="filters prices-choice" role="search">
      <select className="select" aria-label={t('prices.capability')} value={capability} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{t('prices.all')}</option>
        {priced.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </div>
  );
}

function Columns() {
  const { t } = useTranslation('admin');
  return (
    <thead>
      <tr>
        {columns.map((key, n) => (
          <th key={key} scope="col" className={n > 2 ? 'right' : ''}>
            {t(`prices.${key}`)}
          </th>
        ))}
        <th scope="col" className="right">
          <span className="unseen">{t('prices.action')}</span>
        </th>
      </tr>
    </thead>
  );
}

function Table({ held, onCorrect }: { held: readonly Held[]; onCorrect: (price: Price) => void }) {
  return (
    <table className="table records late prices">
      <Columns />
      <tbody>
        {held.map((one) => (
          <Row key={one.price.id} {...one} onCorrect={() => onCorrect(one.price)} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ price, until, state, onCorrect }: Held & { onCorrect: () => void }) {
  const { t } = useTranslation(['admin', 'capabilities']);
  const format = useFormat();
  const calls = [
    ...(price.tier === null ? [] : [t('prices.ofTier', { tier: price.tier })]),
    ...(price.fromBand === 0 ? [] : [t('prices.above', { n: format.count(price.fromBand) })]),
  ].join(' · ');
  const name = [
    price.capabilityId,
    ...(price.upstreamModel === null ? [] : [`(${price.upstreamModel})`]),
    ...(calls === '' ? [] : [calls]),
  ].join(' ');
  const more = listed(price.amounts).map(
    ({ meter, amount }) => `${t(`capabilities:meters.${meter}`)} ${amount} ${t(`capabilities:per.${METERS[meter]}`)}`,
  );
  const asInput = <span className="meta">{t('prices.asInput')}</span>;
  return (
    <tr data-state={state}>
      <td>
        <strong>{price.capabilityId}</strong>
        <span className="meta record-line">{price.upstreamModel === null ? t('prices.any') : <code>{price.upstreamModel}</code>}</span>
        {calls !== '' && <span className="meta record-line">{calls}</span>}
        {more.map((line) => (
          <span key={line} className="meta record-line">
            {line}
          </span>
        ))}
      </td>
      <Cell label={t('prices.from')}>
        <span className="number">{price.from}</span> <Tag kind={kinds[state]}>{t(`prices.states.${state}`)}</Tag>
        {until !== null && <span className="meta record-line">{t('prices.until', { day: until })}</span>}
      </Cell>
      <Cell label={t('prices.currency')}>{price.currency}</Cell>
      <Cell label={t('prices.input')} className="right number">
        {price.input}
      </Cell>
      <Cell label={t('prices.cached')} className="right number">
        {price.cached ?? asInput}
      </Cell>
      <Cell label={t('prices.cacheWrite')} className="right number">
        {price.cacheWrite ?? asInput}
      </Cell>
      <Cell label={t('prices.output')} className="right number">
        {price.output}
      </Cell>
      <td>
        <div className="record-actions">
          <button
            type="button"
            className="quiet"
            data-edge
            onClick={onCorrect}
            aria-label={t('prices.correctOf', { name, from: price.from })}
          >
            {t('prices.correct')}
          </button>
          <Delete price={price} name={name} />
        </div>
      </td>
    </tr>
  );
}

function Delete({ price, name }: { price: Price; name: string }) {
  const { t } = useTranslation('admin');
  const { mutateAsync } = useDeletePrice();
  const run = async () => {
    await mutateAsync(price.id);
    notify('ok', t('prices.deleted', { name }));
  };
  return (
    <AskButton
      of={t('prices.deleteOf', { name, from: price.from })}
      title={t('prices.ask', { name, from: price.from })}
      text={t('prices.askText')}
      action={t('prices.delete')}
      run={run}
    />
  );
}
