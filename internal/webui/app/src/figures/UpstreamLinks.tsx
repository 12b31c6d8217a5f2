import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { Health } from '../office/operations/Health';
import { upstreamQueries } from '../office/queries';

/** The named upstreams of a capability, and which of them the gateways find in trouble; without any, its own address. */
export function UpstreamLinks({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation('figures');
  const { data } = useQuery(upstreamQueries.upstreams());
  if (!data) return null;
  const of = data.filter(({ capabilityIds }) => capabilityIds.includes(id));
  if (of.length === 0)
    return (
      <Link className="quiet" data-edge to={`/admin/capabilities/${encodeURIComponent(id)}`} aria-label={t('link.addressOf', { name })}>
        {t('link.address')}
      </Link>
    );
  return of.map((one) => (
    <Link key={one.id} className="quiet upstream-link" data-edge to={`/admin/upstreams#upstream-${one.id}`} title={one.name}>
      <span className="cut">{one.name}</span> {(one.health === 'down' || one.health === 'degraded') && <Health of={one.health} />}
    </Link>
  ));
}
