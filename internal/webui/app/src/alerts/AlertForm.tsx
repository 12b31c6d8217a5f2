import { lazy, Suspense, useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getI18n, useTranslation } from 'react-i18next';
import type { UseFormReturn } from 'react-hook-form';
import { changedMeanwhile } from '../api/error';
import { applicationQueries } from '../applications/queries';
import { LIMITS } from '../limits/limits';
import { today } from '../range/days';
import { presetOf } from '../range/range';
import { Decide, Form, Input, Refused, Select, useDraft, useTyped } from '../ui/form/Form';
import { notify } from '../ui/page/notice';
import { ChannelFields } from './ChannelFields';
import {
  draftOf,
  editOf,
  fresh,
  KINDS,
  single,
  stored,
  UNITS,
  periodsOf,
  USUAL,
  windowed,
  WINDOWS,
  type Kind,
  type TargetType,
  type Typed,
} from './draft';
import { alertQueries, calls, useAlertWrite, type Alert, type Site } from './queries';

const Line = Input<Typed>;
const Choice = Select<Typed>;

// Its words come with it.
const Past = lazy(async () => {
  const i18n = getI18n();
  const words = i18n.language === 'en' ? import('../locale/en/preview') : import('../locale/zh/preview');
  const past = await import('./Past');
  i18n.addResourceBundle(i18n.language, 'preview', (await words).default);
  return past;
});

/** What to begin an alert with, and why so. */
export interface Suggestion {
  typed: Partial<Typed>;
  why: string;
}

/** Makes an alert, of an application if one is named or as one is suggested, or edits one. */
export function AlertForm({
  site,
  alert,
  applicationId,
  suggestion,
  onClose,
}: {
  site: Site;
  alert: Alert | null;
  applicationId?: string | undefined;
  suggestion?: Suggestion;
  onClose: () => void;
}) {
  const { t } = useTranslation('alerts');
  const [read, setRead] = useState(alert); // as it was when it was read last
  const [start] = useState(() => (alert ? stored(alert) : { ...fresh(site, applicationId), ...suggestion?.typed }));
  const form = useDraft<Typed>(start);
  const typed = useTyped(form);
  const before = form.formState.defaultValues as Typed;
  const save = useAlertWrite((of: Typed) =>
    read ? calls[site].edit(read.id, read.updatedAt, editOf(of, before)) : calls[site].create(draftOf(of)),
  );
  const submit = (of: Typed) =>
    save.mutateAsync(of, {
      onSuccess: (saved) => {
        notify('ok', t('saved', { name: saved.name }));
        onClose();
      },
      onError: (error) => {
        const now = changedMeanwhile<Alert>(error);
        if (!now) return;
        setRead(now);
        form.reset(stored(now));
      },
    });
  return (
    <Form
      form={form}
      className={suggestion ? 'stack' : 'block stack alert-form'}
      label={t(alert ? 'edit' : 'add')}
      at={{ resolveThreshold: 'threshold' }}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="alert-grid">
        <Line name="name" label={t('name')} maxLength={64} autoFocus />
        <Watched site={site} form={form} typed={typed} fixed={alert} />
        {typed.kind !== 'dayClosed' && <Threshold typed={typed} />}
        <Further kind={typed.kind} fixed={alert !== null} />
        {alert === null && start.currency === '' && typed.kind === 'cost' && typed.targetId !== '' && (
          <UsualCurrency key={typed.targetId} form={form} of={typed.targetId} />
        )}
      </div>
      {suggestion && suggestion.why !== '' && typed.threshold === start.threshold && <p className="meta">{suggestion.why}</p>}
      {site === 'own' && (
        <Suspense>
          <Past typed={typed} saved={read} />
        </Suspense>
      )}
      <ChannelFields />
      <Refused error={save.error} changed={changedMeanwhile(save.error) !== undefined && t('changed')} />
      <Decide action={t('save')} ready={typed.name.trim() !== ''} onClose={onClose} />
    </Form>
  );
}

/** What is watched, and of what; of an alert that there is neither can be changed. */
function Watched({ site, form, typed, fixed }: { site: Site; form: UseFormReturn<Typed>; typed: Typed; fixed: Alert | null }) {
  const { t } = useTranslation('alerts');
  const kinds = KINDS[site];
  const targets = kinds.find(({ kind }) => kind === typed.kind)?.targets ?? [];
  const { data } = useQuery({ ...alertQueries.targets(typed.targetType), enabled: fixed === null && single(typed.targetType) });
  const choose = (kind: Kind) => {
    const able: readonly TargetType[] = kinds.find((one) => one.kind === kind)?.targets ?? [];
    const targetType = able.includes(typed.targetType) ? typed.targetType : (able[0] ?? 'platform');
    form.setValue('kind', kind);
    form.setValue('threshold', USUAL[kind]);
    if (!periodsOf(kind).includes(typed.period)) form.setValue('period', 'day');
    if (targetType !== typed.targetType) aim(targetType);
  };
  const aim = (targetType: TargetType) => {
    form.setValue('targetType', targetType);
    form.setValue('targetId', '');
  };
  return (
    <>
      <Choice
        name="kind"
        label={t('kind')}
        hint={
          typed.kind === 'dayClosed'
            ? t('daysHint')
            : typed.kind === 'upstreamLeftOut'
              ? t('leftOutHint')
              : typed.kind === 'budget'
                ? t('budgetHint')
                : ''
        }
        disabled={fixed !== null}
        onChange={(event) => choose(event.target.value as Kind)}
      >
        {kinds.map(({ kind }) => (
          <option key={kind} value={kind}>
            {t(`kinds.${kind}`)}
          </option>
        ))}
      </Choice>
      {targets.length > 1 && (
        <Choice name="targetType" label={t('of')} disabled={fixed !== null} onChange={(event) => aim(event.target.value as TargetType)}>
          {targets.map((one) => (
            <option key={one} value={one}>
              {t(`targets.${one}`)}
            </option>
          ))}
        </Choice>
      )}
      {single(typed.targetType) && (
        <Choice name="targetId" label={t(`targets.${typed.targetType}`)} disabled={fixed !== null}>
          {fixed ? <option value={typed.targetId}>{fixed.target.name}</option> : <option value="">{t('choose')}</option>}
          {!fixed &&
            data?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </Choice>
      )}
    </>
  );
}

/** Fills in the currency in which most of an application's calls of the last 30 days have a price, until one is typed. */
function UsualCurrency({ form, of }: { form: UseFormReturn<Typed>; of: string }) {
  const { data } = useQuery(applicationQueries.statistics(of, presetOf('30d', today()), true));
  const usual = data?.summary.cost.filter(({ amount }) => amount !== null).sort((a, b) => b.pricedCalls - a.pricedCalls)[0]?.currency;
  useEffect(() => {
    if (usual && !form.getFieldState('currency').isTouched) form.setValue('currency', usual);
  }, [usual, form]);
  return null;
}

function Threshold({ typed }: { typed: Typed }) {
  const { t } = useTranslation('alerts');
  const unit = typed.kind === 'cost' || typed.kind === 'dayClosed' ? typed.currency : t(`units.${UNITS[typed.kind]}`);
  const shared = {
    name: 'threshold',
    label: t('thresholdOf', { unit }),
    hint: t(typed.kind === 'keyExpiry' ? 'thresholdLeft' : 'thresholdHint'),
  } as const;
  if (typed.kind !== 'limit') return <Line {...shared} inputMode="decimal" />;
  return (
    <Choice {...shared}>
      {[...new Set(['50', '80', '100', typed.threshold])].map((one) => (
        <option key={one} value={one}>
          {one} %
        </option>
      ))}
    </Choice>
  );
}

/** What only some kinds have. */
function Further({ kind, fixed }: { kind: Kind; fixed: boolean }) {
  const { t } = useTranslation(['alerts', 'common']);
  return (
    <>
      {windowed(kind) && (
        <>
          <Choice name="windowMinutes" label={t('window')}>
            {WINDOWS.map((n) => (
              <option key={n} value={n}>
                {t('minutes', { n: String(n) })}
              </option>
            ))}
          </Choice>
          <Line name="minCalls" label={t('minCalls')} hint={t('minCallsHint')} inputMode="numeric" />
        </>
      )}
      {periodsOf(kind).length > 0 && (
        <Choice name="period" label={t('period')} disabled={fixed}>
          {periodsOf(kind).map((one) => (
            <option key={one} value={one}>
              {t(`periods.${one}`)}
            </option>
          ))}
        </Choice>
      )}
      {kind === 'cost' && (
        <Line name="currency" label={t('currency')} hint={t('currencyHint')} className="input mono" disabled={fixed} maxLength={3} />
      )}
      {kind === 'limit' && (
        <Choice name="limit" label={t('limit')} disabled={fixed}>
          {LIMITS.map((one) => (
            <option key={one} value={one}>
              {t(`common:limits.${one}`)}
            </option>
          ))}
        </Choice>
      )}
    </>
  );
}
