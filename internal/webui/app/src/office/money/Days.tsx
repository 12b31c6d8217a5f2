import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client';
import { useFormat } from '../../format/useFormat';
import { Block } from '../../ui/page/Block';
import { CsvFoot } from '../../ui/table/CsvButton';
import { Tag } from '../../ui/Tag';
import { officeQueries } from '../queries';

type Day = Schemas['ClosedDay'];

const kinds = { open: 'off', closed: 'ok', reopened: 'warn' } as const;

/** How the Beijing days of the last two weeks stand, and what holds up those that are not closed. */
export function Days() {
  const { t } = useTranslation('admin');
  const query = useQuery(officeQueries.days());
  return (
    <section className="block" aria-label={t('days.title')}>
      <h2>{t('days.title')}</h2>
      <p className="second spools-about">{t('days.about')}</p>
      <Block query={query} height={200}>
        {(days) => (
          <>
            <ul className="days">
              {days.map((day) => (
                <Row key={day.day} of={day} />
              ))}
            </ul>
            <CsvFoot name="days" rows={days} />
          </>
        )}
      </Block>
    </section>
  );
}

function Row({ of }: { of: Day }) {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const waits = useWaits(of);
  const missing = useMissing(of);
  return (
    <li>
      <strong className="number">{of.day}</strong>
      <span className="day-state">
        <Tag kind={kinds[of.state]}>{t(`days.states.${of.state}`)}</Tag>
      </span>
      <span className="day-why">
        {of.calls !== null &&
          t('days.figures', {
            calls: format.count(of.calls),
            failures: format.count(of.failures ?? 0),
            applications: format.count(of.applicationCount ?? 0),
          })}
        {waits !== '' && (
          <span className="second">
            {of.calls !== null && ' · '}
            {waits}
          </span>
        )}
        {missing !== '' && <span className="fault-text"> · {missing}</span>}
      </span>
      {of.closedAt !== null && (
        <span className="meta number" title={format.exactTime(of.closedAt)}>
          {t('days.revision', { n: String(of.revision), at: format.time(of.closedAt) })}
        </span>
      )}
    </li>
  );
}

/** What a day that is not closed waits for. */
function useWaits({ waitsFor, heldBy }: Day): string {
  const { t } = useTranslation('admin');
  if (waitsFor === null) return '';
  return t(`days.waits.${waitsFor}`, {
    hosts: heldBy.map(({ id, host, silent }) => (silent ? t('days.silent', { host: host || id }) : host || id)).join(', '),
  });
}

/** What is known to be missing of a day. */
function useMissing({ missingCalls, spools }: Day): string {
  const { t } = useTranslation('admin');
  const format = useFormat();
  const unknown = spools.filter(({ calls }) => calls === null);
  if (missingCalls === null || (missingCalls === 0 && unknown.length === 0)) return '';
  if (unknown.length === 0) return t('days.missing', { n: format.count(missingCalls) });
  return t('days.missingMore', { n: format.count(missingCalls), hosts: unknown.map(({ id, host }) => host || id).join(', ') });
}
