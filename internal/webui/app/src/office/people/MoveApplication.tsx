import { useId, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/error';
import Confirm from '../../ui/form/Confirm';
import { notify } from '../../ui/page/notice';
import { officeQueries, type Listed } from '../queries';
import { useMove } from '../writes';

const MOST_REASON = 500;

/** Asks to whom and why, and gives the application to another owner. */
export default function MoveApplication({ of: { id, name, owner, updatedAt }, onClosed }: { of: Listed; onClosed: () => void }) {
  const { t } = useTranslation('admin');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const [refused, setRefused] = useState('');
  const { mutateAsync } = useMove();
  const { data } = useQuery({ ...officeQueries.users({ page: 1, q: to.trim().slice(0, 64) }), enabled: to.trim() !== '' });
  const field = useId();
  const run = async () => {
    try {
      const body = { owner: to.trim(), reason: reason.replace(/\s+/g, ' ').trim() };
      const now = await mutateAsync({ id, body, updatedAt });
      notify('ok', t('directory.moved', { name, owner: now.owner.email }));
    } catch (error) {
      setRefused(error instanceof ApiError ? (error.fields['owner'] ?? '') : '');
      throw error;
    }
  };
  return (
    <Confirm
      ready={to.trim() !== ''}
      title={t('directory.askMove', { name })}
      text={t('directory.askMoveText', { owner: owner.email })}
      action={t('directory.move')}
      run={run}
      onClosed={onClosed}
    >
      <div className="field">
        <label htmlFor={`${field}-owner`}>{t('directory.newOwner')}</label>
        <input
          className="input mono"
          id={`${field}-owner`}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          maxLength={254}
          list={`${field}-accounts`}
          aria-invalid={refused !== ''}
          aria-describedby={`${field}-refused`}
          value={to}
          onChange={(event) => {
            setTo(event.target.value);
            setRefused('');
          }}
        />
        <datalist id={`${field}-accounts`}>
          {data?.items.map((one) => (
            <option key={one.id} value={one.email} />
          ))}
        </datalist>
        <span className="fault-text" id={`${field}-refused`} role="alert">
          {refused}
        </span>
      </div>
      <div className="field">
        <label htmlFor={`${field}-reason`}>{t('directory.moveReason')}</label>
        <textarea
          className="area"
          id={`${field}-reason`}
          rows={2}
          maxLength={MOST_REASON}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </Confirm>
  );
}
