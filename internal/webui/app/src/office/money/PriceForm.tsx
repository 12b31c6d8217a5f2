import { useState } from 'react';
import { useFieldArray } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { ApiError, changedMeanwhile } from '../../api/error';
import { useFormat } from '../../format/useFormat';
import { isDay } from '../../range/days';
import { Button } from '../../ui/Button';
import { Decide, Form, Input, Notice, Refused, Select, useDraft, useTyped } from '../../ui/form/Form';
import { Icon } from '../../ui/Icon';
import { notify } from '../../ui/page/notice';
import { BANDS, draft, fresh, RATES, replaced, stored, taken, type Price, type Typed } from './prices';
import { METERS, type Meter } from '../../tokens/meters';
import { CapabilityField } from './CapabilityField';
import { usePutPrice } from '../writes';
import { Suggestions } from './Suggestions';

const shown = (price: Price): string =>
  `${price.input} / ${price.cached ?? price.input} / ${price.cacheWrite ?? price.input} / ${price.output} ${price.currency}`;

const Line = Input<Typed>;
const Choice = Select<Typed>;
const code = { className: 'input mono', spellCheck: false };

/** Enters a price, or corrects `price`; what is there by now on that day is told before it is replaced. */
export function PriceForm({
  price,
  prices,
  capability,
  model,
  from,
  onClose,
}: {
  price: Price | null;
  prices: readonly Price[];
  capability: string;
  model: string;
  from: string;
  onClose: () => void;
}) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const put = usePutPrice();
  const form = useDraft<Typed>(price ? stored(price) : fresh(capability, from, prices[0]?.currency ?? '', model));
  const typed = useTyped(form);
  const [read, setRead] = useState(price); // as it was when it was read last
  const locked = price !== null;
  const old = price ? undefined : replaced(prices, typed);
  const gone = put.error instanceof ApiError && put.error.status === 404;
  const theirs = changedMeanwhile<Price>(put.error);
  const submit = () =>
    put.mutateAsync(
      { body: draft(typed), updatedAt: (price ? read : old)?.updatedAt },
      {
        onSuccess: () => {
          notify('ok', t('prices.saved'));
          onClose();
        },
        onError: (error) => {
          const current = changedMeanwhile<Price>(error);
          if (current || (error instanceof ApiError && error.status === 404)) setRead(current ?? null);
        },
      },
    );
  const dated = isDay(typed.from.trim());
  const ready = [typed.capabilityId, typed.currency, typed.input, typed.output].every((text) => text.trim() !== '') && dated;
  return (
    <Form
      form={form}
      className="block stack price-form"
      label={price ? t('prices.correct') : t('prices.add')}
      at={Object.fromEntries(typed.amounts.map(({ meter }, n) => [`amounts.${meter}`, `amounts.${n}.amount` as const]))}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="price-grid">
        <CapabilityField id={typed.capabilityId.trim()} locked={locked} />
        <Line
          {...code}
          name="upstreamModel"
          label={t('prices.model')}
          hint={t('prices.modelHint')}
          readOnly={locked}
          placeholder={t('prices.any')}
        />
        <Line
          {...code}
          name="tier"
          label={t('prices.tier')}
          hint={t('prices.tierHint')}
          readOnly={locked}
          placeholder={t('prices.anyTier')}
        />
        <Choice name="fromBand" label={t('prices.band')} hint={t('prices.bandHint')} disabled={locked}>
          {BANDS.map((band) => (
            <option key={band} value={band}>
              {band === 0 ? t('prices.anyBand') : t('prices.above', { n: format.count(band) })}
            </option>
          ))}
        </Choice>
        <Line
          {...code}
          name="from"
          label={t('prices.from')}
          hint={t('prices.fromHint')}
          fault={dated ? undefined : t('prices.fromWrong')}
          readOnly={locked}
        />
        <Line {...code} name="currency" label={t('prices.currency')} hint={t('prices.currencyHint')} autoFocus={locked} />
      </div>
      <div className="price-grid">
        {RATES.map((rate) => (
          <Line
            {...code}
            key={rate}
            name={rate}
            label={t(`prices.${rate}`)}
            hint={rate === 'cached' || rate === 'cacheWrite' ? t('prices.optionalHint') : t('prices.rateHint')}
            inputMode="decimal"
          />
        ))}
      </div>
      <Meters form={form} taken={typed.amounts.map(({ meter }) => meter)} />
      {old && <Notice role="status">{t('prices.replaces', { old: shown(old) })}</Notice>}
      <Refused error={put.error} changed={theirs ? t('prices.changed', { theirs: shown(theirs) }) : gone && t('prices.gone')} />
      <Suggestions
        capability={typed.capabilityId.trim()}
        model={typed.upstreamModel.trim()}
        onUse={(one) => form.setValues({ ...taken(typed, one), ...(price ? { from: typed.from, fromBand: typed.fromBand } : {}) })}
      />
      <Decide action={t('prices.save')} ready={ready} onClose={onClose} />
    </Form>
  );
}

/** Amounts of what else the provider charges for, one a row. */
function Meters({ form, taken }: { form: ReturnType<typeof useDraft<Typed>>; taken: readonly Meter[] }) {
  const { t } = useTranslation(['admin', 'capabilities']);
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'amounts' });
  const left = (Object.keys(METERS) as Meter[]).filter((meter) => !taken.includes(meter));
  return (
    <fieldset className="price-meters stack" aria-label={t('prices.more')}>
      {fields.map((field, n) => {
        const meter = taken[n] ?? field.meter;
        return (
          <div key={field.id} className="price-meter">
            <Choice name={`amounts.${n}.meter`} label={t('prices.meter')}>
              {(Object.keys(METERS) as Meter[]).map((one) => (
                <option key={one} value={one} disabled={one !== meter && taken.includes(one)}>
                  {t(`capabilities:meters.${one}`)}
                </option>
              ))}
            </Choice>
            <Line
              {...code}
              name={`amounts.${n}.amount`}
              label={t('prices.amount')}
              hint={t(`capabilities:per.${METERS[meter]}`)}
              inputMode="decimal"
            />
            <Button onClick={() => remove(n)} aria-label={t('prices.removeOf', { meter: t(`capabilities:meters.${meter}`) })}>
              {t('prices.remove')}
            </Button>
          </div>
        );
      })}
      {left[0] !== undefined && (
        <div className="row">
          <Button
            onClick={() => {
              const [next] = left;
              if (next !== undefined) append({ meter: next, amount: '' });
            }}
          >
            <Icon name="plus" />
            {t('prices.more')}
          </Button>
          <span className="meta">{t('prices.moreHint')}</span>
        </div>
      )}
    </fieldset>
  );
}
