import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client';
import { Tag } from '../../ui/Tag';

const kinds = { ok: 'ok', degraded: 'warn', down: 'failed', unknown: 'off' } as const;

/** How the gateways see an upstream. */
export function Health({ of }: { of: Schemas['UpstreamHealth'] }) {
  const { t } = useTranslation('admin');
  return <Tag kind={kinds[of]}>{t(`upstreams.health.${of}`)}</Tag>;
}
