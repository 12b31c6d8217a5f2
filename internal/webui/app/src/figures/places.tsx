import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon';

/** The figures of a capability; `search` is a range with its question mark. */
export const figuresOf = (id: string, search = ''): string => `/admin/capabilities/${encodeURIComponent(id)}/figures${search}`;

/** A capability by its name, and the way to its figures where it is in the catalog: `name` is empty where it is not. */
export function CapabilityName({ model, name, search = '' }: { model: string; name: string; search?: string }) {
  const { t } = useTranslation();
  if (name === '') return <span title={model}>{model === '' ? t('metrics.unspecified') : model}</span>;
  return (
    <Link to={figuresOf(model, search)} title={name === model ? model : `${name} (${model})`}>
      {name}
    </Link>
  );
}

const MOST_SOUGHT = 64; // characters that a directory is searched for

/** An application of any owner, and the way to its line in the directory. */
export function ApplicationName({ of: { id, name, status } }: { of: Pick<Schemas['CallingApplication'], 'id' | 'name' | 'status'> }) {
  const { t } = useTranslation();
  return (
    <span>
      <Link to={`/admin/applications?q=${id}`} title={`${name} (${id})`}>
        {name}
      </Link>
      {status === 'disabled' && (
        <span className="meta">
          {' '}
          <Icon name="pause" size={12} /> {t('status.disabled')}
        </span>
      )}
    </span>
  );
}

/** A user, and the way to their line in the directory. */
export const OwnerName = ({ of: { email } }: { of: Schemas['User'] }) => (
  <Link to={`/admin/users?q=${encodeURIComponent(email.slice(0, MOST_SOUGHT))}`} title={email}>
    {email}
  </Link>
);
