import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError, changedMeanwhile } from '../../api/error';
import type { Schemas } from '../../api/client';
import { isDay, today } from '../../range/days';
import { AskButton } from '../../ui/AskButton';
import { Button } from '../../ui/Button';
import { Decide, Form, Input, Notice, Refused, useDraft, useTyped } from '../../ui/form/Form';
import { Block } from '../../ui/page/Block';
import { notify } from '../../ui/page/notice';
import { CsvFoot } from '../../ui/table/CsvButton';
import { Cell } from '../../ui/table/Records';
import { officeQueries } from '../queries';
import { useDeleteRate, usePutRate } from '../writes';

type Rate = Schemas['Exchange'];
type Typed = Schemas['ExchangeDraft'];

const Line = Input<Typed>;
const code = { className: 'input mono', spellCheck: false };

const pairOf = ({ currency, toCurrency }: Typed): string => `${currency} → ${toCurrency}`;

/** What one unit of a currency is in another: of these, costs in several currencies have one total. */
export function Rates() {
  const { t } = useTranslation('admin');
  const query = useQuery(officeQueries.rates());
  const [form, setForm] = useState<{ rate: Rate | null } | null>(null);
  return (
    <section className="block" aria-label={t('rates.title')}>
      <div className="block-head">
        <h2>{t('rates.title')}</h2>
        {!form && <Button onClick={() => setForm({ rate: null })}>{t('rates.add')}</Button>}
      </div>
      <p className="second prices-about">{t('rates.about')}</p>
      {form && <RateForm key={form.rate?.id ?? ''} rate={form.rate} rates={query.data ?? []} onClose={() => setForm(null)} />}
      <Block query={query} height={84}>
        {(rates) =>
          rates.length === 0 ? (
            <p className="second">{t('rates.empty')}</p>
          ) : (
            <>
              <table className="table records late">
                <thead>
                  <tr>
                    <th>{t('rates.pair')}</th>
                    <th>{t('rates.from')}</th>
                    <th className="right">{t('rates.rate')}</th>
                    <th>
                      <span className="unseen">{t('prices.action')}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rates.map((rate) => (
                    <Row key={rate.id} rate={rate} onCorrect={() => setForm({ rate })} />
                  ))}
                </tbody>
              </table>
              <CsvFoot name="rates" rows={rates} />
            </>
          )
        }
      </Block>
    </section>
  );
}

function Row({ rate, onCorrect }: { rate: Rate; onCorrect: () => void }) {
  const { t } = useTranslation('admin');
  const { mutateAsync } = useDeleteRate();
  const named = { name: pairOf(rate), from: rate.from };
  return (
    <tr>
      <td>
        <strong>{pairOf(rate)}</strong>
      </td>
      <Cell label={t('rates.from')} className="number">
        {rate.from}
      </Cell>
      <Cell label={t('rates.rate')} className="right number">
        {rate.rate}
      </Cell>
      <td>
        <div className="record-actions">
          <button type="button" className="quiet" data-edge onClick={onCorrect} aria-label={t('rates.correctOf', named)}>
            {t('rates.correct')}
          </button>
          <AskButton
            of={t('rates.deleteOf', named)}
            title={t('rates.ask', named)}
            text={t('rates.askText')}
            action={t('rates.delete')}
            run={async () => {
              await mutateAsync(rate.id);
              notify('ok', t('rates.deleted', named));
            }}
          />
        </div>
      </td>
    </tr>
  );
}

/** Enters a rate, or corrects `rate`. */
function RateForm({ rate, rates, onClose }: { rate: Rate | null; rates: readonly Rate[]; onClose: () => void }) {
  const { t } = useTranslation('admin');
  const put = usePutRate();
  const form = useDraft<Typed>(
    rate
      ? { currency: rate.currency, toCurrency: rate.toCurrency, from: rate.from, rate: rate.rate }
      : { currency: '', toCurrency: '', from: today(), rate: '' },
  );
  const typed = useTyped(form);
  const [read, setRead] = useState(rate); // as it was when it was read last
  const body: Typed = {
    currency: typed.currency.trim().toUpperCase(),
    toCurrency: typed.toCurrency.trim().toUpperCase(),
    from: typed.from.trim(),
    rate: typed.rate.trim(),
  };
  const old = rate ? undefined : rates.find((one) => pairOf(one) === pairOf(body) && one.from === body.from);
  const theirs = changedMeanwhile<Rate>(put.error);
  const gone = put.error instanceof ApiError && put.error.status === 404;
  const submit = () =>
    put.mutateAsync(
      {
        body,
        updatedAt: (rate ? read : old)?.updatedAt,
      },
      {
        onSuccess: () => {
          notify('ok', t('prices.saved'));
          onClose();
        },
        onError: (error) => {
          const current = changedMeanwhile<Rate>(error);
          if (current || (error instanceof ApiError && error.status === 404)) setRead(current ?? null);
        },
      },
    );
  const locked = rate !== null;
  const dated = isDay(typed.from.trim());
  const ready = [typed.currency, typed.toCurrency, typed.rate].every((text) => text.trim() !== '') && dated;
  return (
    <Form
      form={form}
      className="block stack price-form"
      label={rate ? t('rates.correct') : t('rates.add')}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="price-grid">
        <Line {...code} name="currency" label={t('rates.currency')} hint={t('prices.currencyHint')} readOnly={locked} autoFocus={!locked} />
        <Line {...code} name="toCurrency" label={t('rates.toCurrency')} hint={t('prices.currencyHint')} readOnly={locked} />
        <Line
          {...code}
          name="from"
          label={t('rates.from')}
          hint={t('prices.fromHint')}
          fault={dated ? undefined : t('prices.fromWrong')}
          readOnly={locked}
        />
        <Line {...code} name="rate" label={t('rates.rate')} hint={t('rates.rateHint')} inputMode="decimal" autoFocus={locked} />
      </div>
      {old && <Notice role="status">{t('rates.replaces', { old: old.rate })}</Notice>}
      <Refused error={put.error} changed={theirs ? t('prices.changed', { theirs: theirs.rate }) : gone && t('rates.gone')} />
      <Decide action={t('prices.save')} ready={ready} onClose={onClose} />
    </Form>
  );
}
