import './figures.css';
import { useTranslation } from 'react-i18next';
import { useReasonText } from '../calls/useReasonText';
import { useFormat } from '../format/useFormat';
import { lasting } from './failing';
import { ApplicationName, CapabilityName, OwnerName } from './places';
import type { FailureNow } from './queries';

/** Why calls of the last hour failed, since when and whom it hits; `named` says of which capability, too. */
export function Causes({
  items,
  until,
  search,
  named = false,
}: {
  items: readonly FailureNow[];
  until: string;
  search: string;
  named?: boolean;
}) {
  return (
    <ul className="causes">
      {items.map((item) => (
        <Cause
          key={[item.type, item.code, item.upstreamStatus, item.model].join(' ')}
          of={item}
          until={until}
          search={search}
          named={named}
        />
      ))}
    </ul>
  );
}

function Cause({ of, until, search, named }: { of: FailureNow; until: string; search: string; named: boolean }) {
  const { t } = useTranslation(['figures', 'calls']);
  const format = useFormat();
  const words = useReasonText();
  const minutes = lasting(of, until);
  const change = format.change(of.failures, of.failuresBefore);
  return (
    <li>
      <div className="cause-why">
        {named && (
          <p className="cut">
            <CapabilityName model={of.model} name={of.name} search={search} />
          </p>
        )}
        <p title={of.type === null ? undefined : `${t(`calls:type.${of.type}`)} · ${of.code}`}>
          <strong>{words(of)}</strong>
        </p>
        <p className="meta" title={format.exactTime(of.firstSeen)}>
          <span className="number">
            {minutes === null ? t('cause.long') : t('cause.since', { time: format.clock(of.firstSeen), n: format.count(minutes) })}
          </span>{' '}
          · <span className="number">{t('cause.last', { time: format.clock(of.lastSeen) })}</span>
        </p>
      </div>
      <p className="cause-count number">
        <strong>{format.count(of.failures)}</strong>{' '}
        <span className="meta" title={t('hour.before', { value: format.count(of.failuresBefore) })}>
          {change.text}
        </span>
      </p>
      <div className="cause-whom">
        <p className="meta">{t('cause.hits', { applications: format.count(of.applicationCount), owners: format.count(of.ownerCount) })}</p>
        {of.topApplications.map((one) => (
          <p key={one.id} className="cause-hit">
            <span className="cut">
              <ApplicationName of={one} />
            </span>{' '}
            <span className="cut meta">
              <OwnerName of={one.owner} />
            </span>{' '}
            <span className="number">{format.count(one.failures)}</span>
          </p>
        ))}
        {of.applicationCount > of.topApplications.length && (
          <p className="meta">{t('cause.more', { n: format.count(of.applicationCount - of.topApplications.length) })}</p>
        )}
      </div>
    </li>
  );
}
