import '../ui/form/field.css';
import { useState } from 'react';
import Modal from 'antd/es/modal';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { Antd } from '../ui/page/Antd';
import { Button } from '../ui/Button';
import { Code, Copy } from '../ui/Copy';
import { Decide, Form, Input, Refused, Select, useDraft, useTyped } from '../ui/form/Form';
import { useFocusReturn } from '../ui/keys/useFocusReturn';
import { curlOf, endOf, fresh, LIFETIMES, useTokenWrites, type Typed } from './tokens';

/** Makes a management token, and tells it once: it stays until the dialog is closed, for nothing can bring it back. */
export default function CreateDialog({ onClosed }: { onClosed: () => void }) {
  const { t } = useTranslation(['management', 'common']);
  const [made, setMade] = useState<Schemas['NewManagementToken'] | null>(null);
  useFocusReturn();
  return (
    <Antd>
      <Modal
        open
        title={made ? t('madeTitle', { name: made.name }) : t('create')}
        width={560}
        footer={null}
        mask={{ closable: false }}
        keyboard={made === null}
        closable={{ 'aria-label': t('common:action.close') }}
        transitionName="ant-fade"
        onCancel={onClosed}
      >
        {made ? <Made token={made.token} onDone={onClosed} /> : <Create onMade={setMade} onClose={onClosed} />}
      </Modal>
    </Antd>
  );
}

function Create({ onMade, onClose }: { onMade: (made: Schemas['NewManagementToken']) => void; onClose: () => void }) {
  const { t } = useTranslation('management');
  const format = useFormat();
  const writes = useTokenWrites();
  const form = useDraft<Typed>(fresh);
  const { name, access, days } = useTyped(form);
  const [now] = useState(() => Date.now());
  const [refused, setRefused] = useState<unknown>(null);
  // No mutation: it would keep its answer, and the token is not to be kept.
  const submit = async (typed: Typed) => {
    setRefused(null);
    try {
      onMade(await writes.create(typed));
    } catch (error) {
      setRefused(error);
      throw error;
    }
  };
  return (
    <Form form={form} className="stack" label={t('create')} at={{ expiresAt: 'days' }} onSubmit={submit}>
      <Input<Typed> name="name" label={t('name')} hint={t('nameHint')} maxLength={64} autoFocus />
      <Select<Typed> name="access" label={t('access')} hint={t(`may.${access}`)}>
        <option value="read">{t('accesses.read')}</option>
        <option value="full">{t('accesses.full')}</option>
      </Select>
      <Select<Typed> name="days" label={t('lifetime')} hint={t('endsAt', { time: format.time(endOf(days, now)) })}>
        {LIFETIMES.map((n) => (
          <option key={n} value={n}>
            {t('days', { n })}
          </option>
        ))}
      </Select>
      <Refused error={refused} changed={false} />
      <Decide action={t('submit')} ready={name.trim() !== ''} onClose={onClose} />
    </Form>
  );
}

function Made({ token, onDone }: { token: string; onDone: () => void }) {
  const { t } = useTranslation('management');
  const curl = curlOf(location.origin);
  return (
    <div className="stack">
      <p className="bar made-once" data-kind="warn">
        {t('once')}
      </p>
      <div className="row">
        <code className="made-token" aria-label={t('token')}>
          {token}
        </code>
        <Copy text={token} label={t('copy')} edge />
      </div>
      <h2>{t('try')}</h2>
      <p className="second">{t('placeholder')}</p>
      <Code text={curl} />
      <div className="form-foot made-foot">
        <Copy text={`export CALLGATE_TOKEN='${token}'\n${curl}`} label={t('withToken')} edge />
        <Button kind="primary" onClick={onDone}>
          {t('done')}
        </Button>
      </div>
    </div>
  );
}
