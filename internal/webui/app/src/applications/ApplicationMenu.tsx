import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import type { Status } from './status';
import type { Dialogs } from './useDialogs';

/** Edit, switch, and, apart from them, delete. What an administrator has disabled (`held`) cannot be enabled here: the menu says why. */
export function ApplicationMenu({
  on,
  dialogs,
  held,
}: {
  on: { id: string; name: string; status: Status };
  dialogs: Dialogs;
  held: Schemas['Disabling'] | null;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const format = useFormat();
  const active = on.status === 'active';
  const edits = [
    { key: 'edit', label: t('edit'), onSelect: () => dialogs.edit(on) },
    ...(held
      ? []
      : [
          { key: 'status', label: t(active ? 'disable' : 'enable'), onSelect: () => dialogs.setStatus(on, active ? 'disabled' : 'active') },
        ]),
  ];
  return (
    <Menu
      label={t('actions', { name: on.name })}
      button={<Icon name="more" />}
      head={held && <p className="meta">{t('held', { at: format.time(held.at), reason: held.reason })}</p>}
      groups={[edits, [{ key: 'delete', label: <span className="danger">{t('delete')}</span>, onSelect: () => dialogs.remove(on) }]]}
    />
  );
}
