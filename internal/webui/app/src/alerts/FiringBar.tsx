import './alerts.css';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { Icon } from '../ui/Icon';
import { useFiring } from './firing';

const SHOWN = 3;

/** Names the own alerts that fire, of one application or of all; nothing while none does. */
export default function FiringBar({ applicationId }: { applicationId?: string }) {
  const { t } = useTranslation('alerts');
  const firing = useFiring('own', applicationId);
  if (firing.length === 0) return null;
  return (
    <div className="bar alert-firing" data-kind="failed" role="status">
      <Icon name="failed" />
      <span>
        {t('firing')}
        {firing.slice(0, SHOWN).map(({ id, name }, n) => (
          <span key={id}>
            {n > 0 && t('and')}
            <Link to={`/alerts?alert=${id}`}>{name}</Link>
          </span>
        ))}
        {firing.length > SHOWN && (
          <>
            {t('and')}
            <Link to="/alerts">{t('firingMore', { n: String(firing.length - SHOWN) })}</Link>
          </>
        )}
      </span>
    </div>
  );
}
