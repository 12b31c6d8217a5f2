import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { changedMeanwhile } from '../api/error';
import { useWrites } from '../applications/writes';
import { useFormat } from '../format/useFormat';
import { Decide, Form, Refused, useDraft } from '../ui/form/Form';
import { notify } from '../ui/page/notice';
import { LimitFields } from './LimitFields';
import { changed, typedOf, type Typed } from './limits';
import { useLimitsText } from './useLimitsText';

/** Sets the owner's limits; what somebody else changed meanwhile is told before it is replaced. */
export function LimitsForm({ application, onClose }: { application: Schemas['Application']; onClose: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const writes = useWrites();
  const [read, setRead] = useState(application); // as it was when it was read last
  const form = useDraft<Typed>(typedOf(application.limits), { mode: 'onChange' });
  const save = useMutation({
    mutationFn: async (typed: Typed) => {
      const edit = changed(read.limits, typed);
      if (Object.keys(edit).length > 0) await writes.setLimits(read.id, edit, read.updatedAt);
    },
    onSuccess: () => {
      notify('ok', t('limits.saved', { name: read.name }));
      onClose();
    },
    onError: (error) => setRead((last) => changedMeanwhile<Schemas['Application']>(error) ?? last),
  });
  const theirs = changedMeanwhile<Schemas['Application']>(save.error);
  const shown = useLimitsText(t('common:limits.none'));
  return (
    <Form
      form={form}
      className="stack limits-form"
      label={t('limits.edit')}
      onSubmit={save.mutateAsync}
      onChange={() => !theirs && save.reset()}
      onClose={onClose}
    >
      <div className="limit-grid">
        <LimitFields
          autoFocus
          hint={(name) => (read.ceilings[name] === null ? t('limits.hint') : t('limits.ceiling', { n: format.count(read.ceilings[name]) }))}
        />
      </div>
      <Refused error={save.error} changed={theirs !== undefined && t('limits.changed', { theirs: shown(theirs.limits) })} />
      <Decide action={t('form.save')} onClose={onClose} />
    </Form>
  );
}
