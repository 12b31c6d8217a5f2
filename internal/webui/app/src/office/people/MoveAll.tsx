import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/error';
import { useFormat } from '../../format/useFormat';
import Confirm from '../../ui/form/Confirm';
import { Block } from '../../ui/page/Block';
import { useFaultText } from '../../ui/page/faultText';
import { notify } from '../../ui/page/notice';
import { officeQueries, type Account, type Listed } from '../queries';
import { useMoveAll } from '../writes';
import { NewOwner, oneLine } from './NewOwner';

/** Gives the applications of somebody who leaves to another owner: the active ones, and what else is chosen of theirs. */
export default function MoveAll({ of: { id, email }, onClosed }: { of: Account; onClosed: () => void }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const faultText = useFaultText();
  const query = useQuery(officeQueries.ofOwner({ id, email }));
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const [moved, setMoved] = useState(0);
  const [failed, setFailed] = useState<ReadonlyMap<string, unknown>>(new Map());
  const { mutateAsync } = useMoveAll();
  const all = query.data ?? [];
  const chosen = ({ id, status }: Listed) => (status === 'active') !== turned.has(id);
  const wanted = all.filter(chosen);
  const refused = [...failed.values()].map((error) => (error instanceof ApiError ? error.fields['owner'] : undefined)).find(Boolean) ?? '';
  const changeTo = (next: string) => {
    setTo(next);
    setFailed(new Map());
  };
  const run = async () => {
    setFailed(new Map());
    const { done, failed } = await mutateAsync({
      of: wanted,
      body: { owner: to.trim(), reason: oneLine(reason) },
      onMoved: () => setMoved((n) => n + 1),
    });
    setFailed(failed);
    const [first] = failed.values();
    if (first) throw first;
    notify('ok', t('users.movedAll', { n: format.count(moved + done.length), owner: done[0]!.owner.email }));
  };
  return (
    <Confirm
      ready={to.trim() !== '' && wanted.length > 0}
      title={t('users.askMove', { email })}
      text={t('users.askMoveText', { email })}
      action={t('users.moveN', { n: format.count(wanted.length) })}
      run={run}
      onClosed={onClosed}
    >
      <NewOwner to={to} refused={refused} reason={reason} onTo={changeTo} onReason={setReason} />
      <Block query={query} height={88}>
        {() => (
          <ul className="leaving" aria-label={t('users.applications')}>
            {all.map((one) => (
              <li key={one.id}>
                <label className="check">
                  <input
                    type="checkbox"
                    checked={chosen(one)}
                    onChange={() =>
                      setTurned((before) => new Set(before.has(one.id) ? [...before].filter((id) => id !== one.id) : [...before, one.id]))
                    }
                  />
                  <span>
                    {one.name}
                    {one.status !== 'active' && <span className="meta"> · {t('directory.statuses.disabled')}</span>}
                  </span>
                </label>
                {failed.has(one.id) && <span className="fault-text">{faultText(failed.get(one.id)).title}</span>}
              </li>
            ))}
          </ul>
        )}
      </Block>
      <p className="meta" role="status">
        {moved > 0 && t('users.movedSoFar', { n: format.count(moved), left: format.count(all.length) })}
      </p>
    </Confirm>
  );
}
