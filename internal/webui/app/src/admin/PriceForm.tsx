import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError, changedMeanwhile } from '../api/error';
import { isDay } from '../range/days';
import { Button } from '../ui/Button';
import { composing } from '../ui/composing';
import { Fault } from '../ui/Fault';
import { Icon } from '../ui/Icon';
import { notify } from '../ui/notice';
import { draft, fresh, RATES, replaced, stored, taken, type Price, type Typed } from './prices';
import { officeQueries, usePutPrice } from './queries';
import { Suggestions } from './Suggestions';

const shown = (price: Price): string =>
  `${price.input} / ${price.cached ?? price.input} / ${price.cacheWrite ?? price.input} / ${price.output} ${price.currency}`;

/** Enters a price, or corrects `price`; what is there by now on that day is told before it is replaced. */
export function PriceForm({
  price,
  prices,
  capability,
  model,
  from: first,
  onClose,
}: {
  price: Price | null;
  prices: readonly Price[];
  capability: string;
  model: string;
  from: string;
  onClose: () => void;
}) {
  const { t } = useTranslation(['admin', 'common']);
  const put = usePutPrice();
  const form = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState(() => (price ? stored(price) : fresh(capability, first, prices[0]?.currency ?? '', model)));
  const [read, setRead] = useState(price); // as it was when it was read last
  const [told, setTold] = useState('');
  const set = (change: Partial<Typed>) => setTyped({ ...typed, ...change });
  const old = price ? undefined : replaced(prices, typed);
  const missing = put.error instanceof ApiError && put.error.status === 404;
  const fields = put.error instanceof ApiError ? put.error.fields : {};
  const from = isDay(typed.from.trim()) ? fields['from'] : t('prices.fromWrong');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    put.mutate(
      { body: draft(typed), updatedAt: (price ? read : old)?.updatedAt },
      {
        onSuccess: () => {
          notify('ok', t('prices.saved'));
          onClose();
        },
        onError: (error) => {
          const theirs = changedMeanwhile<Price>(error);
          if (theirs) setTold(t('prices.changed', { theirs: shown(theirs) }));
          else if (error instanceof ApiError && error.status === 404) setTold(t('prices.gone'));
          else return;
          setRead(theirs ?? null);
        },
      },
    );
  };
  useEffect(() => {
    if (put.isError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [put.isError, put.failureCount]);
  const ready =
    [typed.capabilityId, typed.currency, typed.input, typed.output].every((text) => text.trim() !== '') && isDay(typed.from.trim());
  return (
    <form
      ref={form}
      className="block stack price-form"
      noValidate
      aria-label={price ? t('prices.correct') : t('prices.add')}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose()}
    >
      <div className="price-grid">
        <CapabilityField typed={typed} set={set} fault={fields['capabilityId']} locked={price !== null} />
        <Field
          name="upstreamModel"
          label={t('prices.model')}
          hint={t('prices.modelHint')}
          fault={fields['upstreamModel']}
          typed={typed}
          set={set}
          locked={price !== null}
          placeholder={t('prices.any')}
        />
        <Field
          name="from"
          label={t('prices.from')}
          hint={t('prices.fromHint')}
          fault={from}
          typed={typed}
          set={set}
          locked={price !== null}
        />
        <Field
          name="currency"
          label={t('prices.currency')}
          hint={t('prices.currencyHint')}
          fault={fields['currency']}
          typed={typed}
          set={set}
          autoFocus={price !== null}
        />
        {RATES.map((rate) => (
          <Field
            key={rate}
            name={rate}
            label={t(`prices.${rate}`)}
            hint={rate === 'cached' || rate === 'cacheWrite' ? t('prices.optionalHint') : t('prices.rateHint')}
            fault={fields[rate]}
            typed={typed}
            set={set}
            decimal
          />
        ))}
      </div>
      {old && (
        <div className="bar" data-kind="warn" role="status">
          <Icon name="warn" />
          {t('prices.replaces', { old: shown(old) })}
        </div>
      )}
      {told !== '' && (
        <div className="bar" data-kind="warn" role="alert">
          <Icon name="warn" />
          {told}
        </div>
      )}
      {put.isError && Object.keys(fields).length === 0 && !missing && changedMeanwhile(put.error) === undefined && (
        <Fault error={put.error} />
      )}
      <Suggestions
        capability={typed.capabilityId.trim()}
        model={typed.upstreamModel.trim()}
        onUse={(one) => setTyped({ ...taken(typed, one), ...(price ? { from: typed.from } : {}) })}
      />
      <div className="row">
        <Button kind="primary" type="submit" loading={put.isPending} disabled={!ready}>
          {t('prices.save')}
        </Button>
        <Button onClick={onClose}>{t('common:action.cancel')}</Button>
      </div>
    </form>
  );
}

interface Part {
  typed: Typed;
  set: (change: Partial<Typed>) => void;
  fault?: string | undefined;
  locked?: boolean;
}

function Field({
  name,
  label,
  hint,
  fault,
  typed,
  set,
  locked = false,
  decimal = false,
  autoFocus = false,
  placeholder,
  list,
}: Part & { name: keyof Typed; label: string; hint: string; decimal?: boolean; autoFocus?: boolean; placeholder?: string; list?: string }) {
  const id = `price-${name}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input mono"
        value={typed[name]}
        readOnly={locked}
        autoFocus={autoFocus}
        placeholder={placeholder}
        list={list}
        inputMode={decimal ? 'decimal' : 'text'}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => set({ [name]: event.target.value })}
      />
      <p id={`${id}-hint`} className="meta">
        {fault ? (
          <span className="fault-text" role="alert">
            {fault}
          </span>
        ) : (
          hint
        )}
      </p>
    </div>
  );
}

/** A capability's identifier, of those that contain what is typed. */
function CapabilityField(part: Part) {
  const { t } = useTranslation('admin');
  const { data } = useQuery(officeQueries.capabilities({ page: 1, groupId: '', status: '', q: part.typed.capabilityId.trim() }));
  const found = data?.items.find(({ id }) => id === part.typed.capabilityId.trim());
  return (
    <>
      <Field
        {...part}
        name="capabilityId"
        label={t('prices.capability')}
        hint={found?.name ?? ''}
        autoFocus={part.locked !== true}
        list="price-capabilities"
      />
      <datalist id="price-capabilities">
        {data?.items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
}
