import { useTranslation } from 'react-i18next';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { PageLink } from '../ui/page/PageLink';

/** A call's id as an entry of a list of facts, with the page that a link can name; `here`: this is that page. */
export function CallIdFact({ applicationId, callId, here = false }: { applicationId: string; callId: string; here?: boolean }) {
  const { t } = useTranslation('calls');
  return (
    <div className="across">
      <dt>{t('fact.callId')}</dt>
      <dd className="mono">
        {callId} <Copy text={callId} bare />
        {!here && (
          <PageLink
            className="quiet square"
            to={`/applications/${applicationId}/calls/${callId}`}
            aria-label={t('page.link')}
            title={t('page.link')}
          >
            <Icon name="external" />
          </PageLink>
        )}
      </dd>
    </div>
  );
}
