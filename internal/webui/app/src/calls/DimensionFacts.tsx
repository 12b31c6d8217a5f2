import { useTranslation } from 'react-i18next';
import { PageLink } from '../ui/page/PageLink';
import { callsPath, ofDay } from './filter';
import type { Call } from './queries';

/** What the caller said of a call, as entries of a list of facts; each leads to the calls of that day that have the same. */
export function DimensionFacts({ applicationId, call }: { applicationId: string; call: Pick<Call, 'tags' | 'user' | 'startTime'> }) {
  const { t } = useTranslation('calls');
  const tags = Object.entries(call.tags);
  const day = ofDay(call.startTime.slice(0, 10));
  return (
    <>
      {tags.length > 0 && (
        <div className="across">
          <dt>{t('fact.tags')}</dt>
          <dd className="call-tags">
            {tags.map(([name, value]) => (
              <PageLink key={name} to={callsPath(applicationId, day, { tag: `${name}:${value}` })}>
                {name}={value}
              </PageLink>
            ))}
          </dd>
        </div>
      )}
      {call.user !== null && (
        <div className="across">
          <dt>{t('fact.user')}</dt>
          <dd className="mono">
            <PageLink to={callsPath(applicationId, day, { user: call.user })}>{call.user}</PageLink>
          </dd>
        </div>
      )}
    </>
  );
}
