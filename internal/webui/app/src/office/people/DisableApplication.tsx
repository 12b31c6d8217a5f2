import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import Confirm from '../../ui/form/Confirm';
import { notify } from '../../ui/page/notice';
import { type Listed } from '../queries';
import { useJudge } from '../writes';

const MOST_REASON = 500;

/** Asks why, for the owner to read, and disables the application. */
export default function DisableApplication({ of: { id, name, owner, updatedAt }, onClosed }: { of: Listed; onClosed: () => void }) {
  const { t } = useTranslation('admin');
  const [reason, setReason] = useState('');
  const [endRunning, setEndRunning] = useState(true);
  const { mutateAsync } = useJudge();
  const field = useId();
  const run = async () => {
    await mutateAsync({ id, body: { status: 'disabled', reason: reason.replace(/\s+/g, ' ').trim(), endRunning }, updatedAt });
    notify('ok', t('directory.disabled', { name }));
  };
  return (
    <Confirm
      danger
      ready={reason.trim() !== ''}
      title={t('directory.ask', { name })}
      text={t('directory.askText', { owner: owner.email })}
      action={t('directory.disable')}
      run={run}
      onClosed={onClosed}
    >
      <div className="field">
        <label htmlFor={field}>{t('directory.reasonLabel')}</label>
        <textarea
          className="area"
          id={field}
          rows={3}
          autoFocus
          maxLength={MOST_REASON}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
      <label className="check">
        <input type="checkbox" checked={endRunning} onChange={(event) => setEndRunning(event.target.checked)} />
        {t('directory.endRunning')}
      </label>
    </Confirm>
  );
}
