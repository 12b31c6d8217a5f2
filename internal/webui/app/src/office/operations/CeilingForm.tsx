import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client';
import { changedMeanwhile } from '../../api/error';
import { LimitFields } from '../../limits/LimitFields';
import { limitsOf, typedOf, type Typed as Limits } from '../../limits/limits';
import { useLimitsText } from '../../limits/useLimitsText';
import { Decide, Form, Input, Notice, Refused, Select, useDraft, useTyped } from '../../ui/form/Form';
import { notify } from '../../ui/page/notice';
import { existing, targetOf } from './ceilings';
import { officeQueries, type Ceiling } from '../queries';
import { usePutCeiling } from '../writes';

type Typed = Limits & { scope: Ceiling['scope']; target: string };

const stored = (ceiling: Ceiling | null): Typed => ({
  scope: ceiling?.scope ?? 'all',
  target: (ceiling?.scope === 'application' ? ceiling.applicationId : ceiling?.ownerEmail) ?? '',
  ...typedOf(ceiling?.limits ?? null),
});

const typedTarget = ({ scope, target }: Typed): Schemas['CeilingDraft'] =>
  scope === 'all' ? { scope } : scope === 'owner' ? { scope, owner: target } : { scope, application: target };

/** Sets a ceiling, or edits one; what is there by now is told before it is replaced. */
export function CeilingForm({ ceiling, onClose }: { ceiling: Ceiling | null; onClose: () => void }) {
  const { t } = useTranslation(['admin', 'common']);
  const put = usePutCeiling();
  const form = useDraft<Typed>(stored(ceiling), { mode: 'onChange' });
  const { scope, target } = useTyped(form);
  const [read, setRead] = useState(ceiling); // as it was when it was read last
  const shown = useLimitsText(t('limits.nothing'));
  const { data } = useQuery({
    ...officeQueries.ceilings({ page: 1, scope, q: scope === 'all' ? '' : target.trim() }),
    enabled: ceiling === null,
  });
  const old = ceiling === null && (scope === 'all' || target.trim() !== '') ? existing(data?.items ?? [], scope, target) : undefined;
  const theirs = changedMeanwhile<Ceiling>(put.error);
  const submit = (typed: Typed) =>
    put.mutateAsync(
      { body: { ...(ceiling ? targetOf(ceiling) : typedTarget(typed)), ...limitsOf(typed) }, updatedAt: (read ?? old)?.updatedAt },
      {
        onSuccess: () => {
          notify('ok', t('limits.saved'));
          onClose();
        },
        onError: (error) => setRead((last) => changedMeanwhile<Ceiling>(error) ?? last),
      },
    );
  /** It is another ceiling that is meant now. */
  const aim = (part: 'scope' | 'target', text: string) => {
    form.setValue(part, text);
    form.clearErrors();
    setRead(null);
    put.reset();
  };
  return (
    <Form
      form={form}
      className="block stack ceiling-form"
      label={t(ceiling ? 'limits.edit' : 'limits.add')}
      at={{ owner: 'target', application: 'target' }}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="ceiling-grid">
        <Select<Typed>
          name="scope"
          label={t('limits.scope')}
          disabled={ceiling !== null}
          autoFocus={ceiling === null}
          onChange={(event) => aim('scope', event.target.value)}
        >
          {(['all', 'owner', 'application'] as const).map((one) => (
            <option key={one} value={one}>
              {t(`limits.scopes.${one}`)}
            </option>
          ))}
        </Select>
        {scope !== 'all' && (
          <Input<Typed>
            name="target"
            label={t(`limits.${scope}`)}
            hint={t(`limits.${scope}Hint`)}
            className="input mono"
            readOnly={ceiling !== null}
            spellCheck={false}
            onChange={(event) => aim('target', event.target.value)}
          />
        )}
      </div>
      <div className="ceiling-grid">
        <LimitFields hint={() => t('limits.hint')} autoFocus={ceiling !== null} />
      </div>
      {old && !theirs && <Notice role="status">{t('limits.replaces', { old: shown(old.limits) })}</Notice>}
      <Refused error={put.error} changed={theirs !== undefined && t('limits.changed', { theirs: shown(theirs.limits) })} />
      <Decide action={t('limits.save')} ready={scope === 'all' || target.trim() !== ''} onClose={onClose} />
    </Form>
  );
}
