import { useId } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { officeQueries } from '../queries';

const MOST_REASON = 500;

/** A reason as the server takes it. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** To whom applications are moved, with the accounts that fit what is typed, and why. */
export function NewOwner({
  to,
  refused,
  reason,
  onTo,
  onReason,
}: {
  to: string;
  /** Why there is no such owner; empty while nothing is known against them. */
  refused: string;
  reason: string;
  onTo: (to: string) => void;
  onReason: (reason: string) => void;
}) {
  const { t } = useTranslation('admin');
  const { data } = useQuery({ ...officeQueries.users({ page: 1, q: to.trim().slice(0, 64) }), enabled: to.trim() !== '' });
  const field = useId();
  return (
    <>
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
          onChange={(event) => onTo(event.target.value)}
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
          onChange={(event) => onReason(event.target.value)}
        />
      </div>
    </>
  );
}
