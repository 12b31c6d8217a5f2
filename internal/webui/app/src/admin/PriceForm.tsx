import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError, changedMeanwhile } from '../api/error';
import { isDay } from '../range/days';
import { Decide, Form, Input, Notice, Refused, useDraft, useTyped } from '../ui/Form';
import { notify } from '../ui/notice';
import { draft, fresh, RATES, replaced, stored, taken, type Price, type Typed } from './prices';
import { officeQueries, usePutPrice } from './queries';
import { Suggestions } from './Suggestions';

const shown = (price: Price): string =>
  `${price.input} / ${price.cached ?? price.input} / ${price.cacheWrite ?? price.input} / ${price.output} ${price.currency}`;

const Line = Input<Typed>;
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
          name="from"
          label={t('prices.from')}
          hint={t('prices.fromHint')}
          fault={dated ? undefined : t('prices.fromWrong')}
          readOnly={locked}
        />
        <Line {...code} name="currency" label={t('prices.currency')} hint={t('prices.currencyHint')} autoFocus={locked} />
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
      {old && <Notice role="status">{t('prices.replaces', { old: shown(old) })}</Notice>}
      <Refused error={put.error} changed={theirs ? t('prices.changed', { theirs: shown(theirs) }) : gone && t('prices.gone')} />
      <Suggestions
        capability={typed.capabilityId.trim()}
        model={typed.upstreamModel.trim()}
        onUse={(one) => form.setValues({ ...taken(typed, one), ...(price ? { from: typed.from } : {}) })}
      />
      <Decide action={t('prices.save')} ready={ready} onClose={onClose} />
    </Form>
  );
}

/** A capability's identifier, of those that contain what is typed. */
function CapabilityField({ id, locked }: { id: string; locked: boolean }) {
  const { t } = useTranslation('admin');
  const { data } = useQuery(officeQueries.capabilities({ page: 1, groupId: '', status: '', q: id }));
  return (
    <>
      <Line
        {...code}
        name="capabilityId"
        label={t('prices.capability')}
        hint={data?.items.find((one) => one.id === id)?.name ?? ''}
        readOnly={locked}
        autoFocus={!locked}
        list="price-capabilities"
      />
      <datalist id="price-capabilities">
        {data?.items.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </datalist>
    </>
  );
}
