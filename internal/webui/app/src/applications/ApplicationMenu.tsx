import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import type { Status } from './status';
import type { Dialogs } from './useDialogs';

/** Edit, switch, and, apart from them, delete. What an administrator has disabled (`held`) cannot be enabled here. */
export function ApplicationMenu({
  on,
  dialogs,
  edit = true,
  held = false,
}: {
  on: { id: string; name: string; status: Status };
  dialogs: Dialogs;
  edit?: boolean;
  held?: boolean;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const active = on.status === 'active';
  const edits = [
    ...(edit ? [{ key: 'edit', label: t('edit'), onSelect: () => dialogs.edit(on) }] : []),
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
      groups={[
        ...(edits.length > 0 ? [edits] : []),
        [{ key: 'delete', label: <span className="danger">{t('delete')}</span>, onSelect: () => dialogs.remove(on) }],
      ]}
    />
  );
}
