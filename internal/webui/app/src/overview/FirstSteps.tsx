import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useCurl } from '../applications/useCurl';
import { capabilityQueries } from '../capabilities/queries';
import { Bones } from '../ui/page/Block';
import { Code } from '../ui/Copy';

/** What to do before there is an application, or before there is a call. */
export default function FirstSteps({ of }: { of: 'start' | 'call' }) {
  return of === 'start' ? <Start /> : <NoCalls />;
}

/** A call of the first capability on offer, complete but for the key. */
function Curl() {
  const { t } = useTranslation('overview');
  const { data } = useQuery(capabilityQueries.list());
  const curl = useCurl(data ?? []);
  if (data?.length === 0) return <p className="second">{t('empty.noCapability')}</p>;
  return curl === null ? <Bones height={132} /> : <Code text={curl} />;
}

function Start() {
  const { t } = useTranslation('overview');
  return (
    <section className="block">
      <h2>{t('empty.title')}</h2>
      <ol className="steps">
        <li>
          <b>1</b>
          <p>{t('empty.create')}</p>
          <Link className="quiet primary-link" to="/applications?new">
            {t('empty.button')}
          </Link>
        </li>
        <li>
          <b>2</b>
          <p>{t('empty.call')}</p>
          <Curl />
        </li>
        <li>
          <b>3</b>
          <p>{t('empty.watch')}</p>
        </li>
      </ol>
    </section>
  );
}

function NoCalls() {
  const { t } = useTranslation('overview');
  return (
    <section className="block stack">
      <p>{t('empty.noCalls')}</p>
      <Curl />
      <div>
        <Link className="quiet" data-edge to="/applications">
          {t('empty.toApplications')}
        </Link>
      </div>
    </section>
  );
}
