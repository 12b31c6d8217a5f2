import { useTranslation } from 'react-i18next';
import { Icon, type IconName } from './Icon';

const icons: Record<'ok' | 'failed' | 'warn' | 'off', IconName> = { ok: 'ok', failed: 'failed', warn: 'warn', off: 'pause' };

/** A state as icon, word and colour together. */
export function Tag({ kind, children }: { kind: keyof typeof icons; children: string }) {
  return (
    <span className="tag" data-kind={kind}>
      <Icon name={icons[kind]} size={12} />
      {children}
    </span>
  );
}

/** The status of an application or a capability. */
export function StatusTag({ status }: { status: 'active' | 'enabled' | 'disabled' }) {
  const { t } = useTranslation();
  return <Tag kind={status === 'disabled' ? 'off' : 'ok'}>{t(`status.${status}`)}</Tag>;
}
