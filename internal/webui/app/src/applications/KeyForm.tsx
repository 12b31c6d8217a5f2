import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { changedMeanwhile } from '../api/error';
import { useFormat } from '../format/useFormat';
import { LimitFields } from '../limits/LimitFields';
import { LIMITS } from '../limits/limits';
import { Area, Decide, Form, Input, Refused, useDraft, useTyped } from '../ui/form/Form';
import { notify } from '../ui/page/notice';
import { draft, fresh, stored, type Key, type Typed } from './keys';
import { useWrites } from './writes';

/** Makes a key, or edits `key`. One that was made is told in full, once. */
export function KeyForm({
  applicationId,
  ceilings,
  from,
  onMade,
  onClose,
}: {
  applicationId: string;
  ceilings: Schemas['Limits'];
  from: Key | null;
  onMade: (id: string, secret: string) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('applications');
  const format = useFormat();
  const writes = useWrites();
  const [read, setRead] = useState(from); // as it was when it was read last
  const form = useDraft<Typed>(from ? stored(from) : fresh);
  const { name } = useTyped(form);
  const [limits, setLimits] = useState(LIMITS.some((limit) => from?.limits[limit] != null));
  const { errors } = form.formState;
  // It ends with nothing: a mutation keeps its answer, and the key is not to be kept.
  const save = useMutation({
    mutationFn: async (typed: Typed) => {
      if (read) {
        await writes.updateKey(applicationId, read.id, draft(typed, stored(read)), read.updatedAt);
        return notify('ok', t('keys.saved', { name: typed.name }));
      }
      const made = await writes.createKey(applicationId, { ...draft(typed), name: typed.name.trim() });
      onMade(made.id, made.accessKey);
      notify('ok', t('keys.made', { name: made.name }));
    },
    onSuccess: onClose,
    onError: (error) => {
      const now = changedMeanwhile<Key>(error);
      if (!now) return;
      setRead(now);
      form.reset(stored(now));
    },
  });
  return (
    <Form
      form={form}
      className="stack key-form"
      label={t(from ? 'keys.edit' : 'keys.add')}
      at={{ expiresAt: 'expires', allowedCidrs: 'addresses' }}
      onSubmit={save.mutateAsync}
      onClose={onClose}
    >
      <div className="key-grid">
        <Input<Typed> name="name" label={t('name')} maxLength={64} autoFocus />
        <Input<Typed> name="expires" label={t('keys.expires')} hint={t('keys.expiresHint')} type="datetime-local" />
        <Area<Typed>
          name="addresses"
          label={t('keys.addresses')}
          hint={t('keys.addressesHint')}
          className="area mono"
          rows={2}
          autoComplete="off"
          spellCheck={false}
        />
      </div>
      {/* What is wrong in there must be seen. */}
      <details
        className="key-limits"
        open={limits || LIMITS.some((limit) => errors[limit] !== undefined)}
        onToggle={(event) => setLimits(event.currentTarget.open)}
      >
        <summary>{t('keys.limits')}</summary>
        <p className="second limits-about">{t('keys.limitsAbout')}</p>
        <div className="limit-grid">
          <LimitFields
            hint={(limit) => (ceilings[limit] === null ? t('limits.hint') : t('keys.ceiling', { n: format.count(ceilings[limit]) }))}
          />
        </div>
      </details>
      <Refused error={save.error} changed={changedMeanwhile(save.error) !== undefined && t('keys.changed')} />
      <Decide action={t(from ? 'keys.save' : 'keys.create')} ready={name.trim() !== ''} onClose={onClose} />
    </Form>
  );
}
