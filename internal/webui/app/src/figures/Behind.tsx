import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { officeQueries, upstreamQueries } from '../office/queries';
import { alertQueries } from '../alerts/queries';
import { useFormat } from '../format/useFormat';
import { late, type Coverage } from '../range/coverage';
import { Icon } from '../ui/Icon';

/** What is behind or stuck, each with the way to its page; nothing when all is well. */
export function Behind({ coverage }: { coverage: Coverage }) {
  const { t } = useTranslation('figures');
  const format = useFormat();
  const spools = useQuery(officeQueries.spools(1)); // those furthest behind come first
  const upstreams = useQuery(upstreamQueries.upstreams());
  const alerts = useQuery(alertQueries.list('office'));
  const silent = spools.data?.items.filter(({ state }) => state === 'silent') ?? [];
  const ill = upstreams.data?.filter(({ health }) => health === 'down' || health === 'degraded') ?? [];
  const firing = alerts.data?.items.filter(({ state }) => state.value === 'firing') ?? [];
  const says: [key: string, to: string, sentence: string][] = [];
  if (late(coverage))
    says.push([
      'late',
      '/admin/spools',
      t('behind.statistics', {
        time: format.time(coverage.dataThrough),
        span: format.duration(coverage.answeredAt - Date.parse(coverage.dataThrough)),
      }),
    ]);
  if (silent.length > 0)
    says.push([
      'silent',
      '/admin/spools',
      t('behind.spools', { n: format.count(silent.length), hosts: silent.map(({ host, id }) => host || id).join(', ') }),
    ]);
  if (ill.length > 0)
    says.push([
      'ill',
      '/admin/upstreams',
      t('behind.upstreams', { n: format.count(ill.length), names: ill.map(({ name }) => name).join(', ') }),
    ]);
  if (firing.length > 0)
    says.push([
      'firing',
      '/admin/alerts',
      t('behind.alerts', { n: format.count(firing.length), names: firing.map(({ name }) => name).join(', ') }),
    ]);
  return says.map(([key, to, sentence]) => (
    <p key={key} className="bar" data-kind="warn">
      <Icon name="warn" />
      <Link to={to} className="behind-link">
        {sentence}
      </Link>
    </p>
  ));
}
