import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/error';
import Confirm from '../../ui/form/Confirm';
import { notify } from '../../ui/page/notice';
import { type Listed } from '../queries';
import { useMove } from '../writes';
import { NewOwner, oneLine } from './NewOwner';

/** Asks to whom and why, and gives the application to another owner. */
export default function MoveApplication({ of: { id, name, owner, updatedAt }, onClosed }: { of: Listed; onClosed: () => void }) {
  const { t } = useTranslation('admin');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const [refused, setRefused] = useState('');
  const { mutateAsync } = useMove();
  const run = async () => {
    try {
      const now = await mutateAsync({ id, body: { owner: to.trim(), reason: oneLine(reason) }, updatedAt });
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
      <NewOwner
        to={to}
        refused={refused}
        reason={reason}
        onTo={(next) => {
          setTo(next);
          setRefused('');
        }}
        onReason={setReason}
      />
    </Confirm>
  );
}
