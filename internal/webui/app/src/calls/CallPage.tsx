import '../ui/form/field.css';
import './calls.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { clockOf, dayOf } from '../range/days';
import { Block } from '../ui/page/Block';
import { Crumb } from '../ui/page/Crumb';
import { useTitle } from '../ui/page/useTitle';
import { callsPath, ofDay } from './filter';
import { Gone, isGone, OwnCallDetail } from './OwnCallPanel';
import { callQueries, type OwnCall } from './queries';

/** One own call by its id alone, as a log of the caller's has it. */
export function Component() {
  const { t } = useTranslation(['calls', 'applications']);
  const { callId = '' } = useParams();
  const query = useQuery(callQueries.own(callId));
  useTitle(t('page.one'));
  return (
    <>
      {query.data ? <Around call={query.data} /> : <Crumb to="/applications">{t('applications:title')}</Crumb>}
      <div className="page-head">
        <h1>{t('page.one')}</h1>
      </div>
      <section className="block failure" aria-label={t('page.one')}>
        {isGone(query.error) ? (
          <Gone />
        ) : (
          <Block query={query} height={480}>
            {(call) => <OwnCallDetail key={callId} call={call} />}
          </Block>
        )}
      </section>
    </>
  );
}

const MINUTE = 60_000;

/** The calls of its application around it: five minutes before and after, within its day. */
function Around({ call }: { call: OwnCall }) {
  const { t } = useTranslation('calls');
  const at = Date.parse(call.startTime);
  const day = dayOf(at);
  const [before, after] = [at - 5 * MINUTE, at + 5 * MINUTE];
  const from = dayOf(before) === day ? clockOf(before).slice(0, 5) : null;
  const to = dayOf(after) === day ? clockOf(after).slice(0, 5) : null;
  return <Crumb to={callsPath(call.application.id, ofDay(day), { from, to })}>{t('page.around', { name: call.application.name })}</Crumb>;
}
