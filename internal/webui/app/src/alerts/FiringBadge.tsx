import { useTranslation } from 'react-i18next';
import { useFiring } from './firing';
import type { Site } from './queries';

/** How many alerts fire, beside the way to them; nothing while none does. */
export function FiringBadge({ site }: { site: Site }) {
  const { t } = useTranslation();
  const n = useFiring(site).length;
  if (n === 0) return null;
  return (
    <span className="badge number">
      <span aria-hidden>{n}</span>
      <span className="unseen">{t('nav.firing', { n: String(n) })}</span>
    </span>
  );
}
