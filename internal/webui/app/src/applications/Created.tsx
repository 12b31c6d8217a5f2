import '../ui/form/field.css';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useSearchParams } from 'react-router';
import type { Schemas } from '../api/client';
import { carried } from '../range/range';
import { Button } from '../ui/Button';
import { Code, Copy } from '../ui/Copy';
import { useTellFault } from '../ui/page/faultText';
import { AccessKey } from './AccessKey';
import FirstCall from './FirstCall';
import { useCapabilities } from './useCapabilities';
import { tryPath, useCurl } from './useCurl';
import { useWrites } from './writes';

/** The key of an application just created, and a first call with it. */
export function Created({ application, onDone }: { application: Schemas['NewApplication']; onDone: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const [boundIds, setBoundIds] = useState<readonly string[]>(application.capabilityIds);
  const { data } = useCapabilities(boundIds);
  const bound = (data ?? []).filter(({ id, status }) => boundIds.includes(id) && status === 'enabled');
  const curl = useCurl(bound);
  const open = () => {
    onDone();
    void navigate(`/applications/${application.id}${carried(search)}`);
  };
  return (
    <div className="stack">
      <AccessKey id={application.id} name={application.name} masked={application.maskedAccessKey} first={application.accessKey} lasting />
      <p className="second">{t('created.later')}</p>
      {boundIds.length === 0 && <BindFirst applicationId={application.id} offer={data ?? []} onBound={(id) => setBoundIds([id])} />}
      {curl !== null && (
        <>
          <h2>{t('created.try')}</h2>
          <p className="second">{t('created.placeholder')}</p>
          <Code text={curl} />
          <div className="row">
            <Copy text={`export CALLGATE_KEY='${application.accessKey}'\n${curl}`} label={t('created.withKey')} edge />
            <Link className="quiet primary-link" to={tryPath(bound[0]!.id, application.id)} onClick={onDone}>
              {t('created.here')}
            </Link>
          </div>
          <FirstCall applicationId={application.id} />
        </>
      )}
      <div className="form-foot">
        <Button onClick={onDone}>{t('created.done')}</Button>
        <Button kind={curl === null ? 'primary' : 'plain'} onClick={open}>
          {t('created.open')}
        </Button>
      </div>
    </div>
  );
}

/** An application without capabilities can call nothing: the first one is bound here. */
function BindFirst({
  applicationId,
  offer,
  onBound,
}: {
  applicationId: string;
  offer: readonly Schemas['CapabilityFields'][];
  onBound: (capabilityId: string) => void;
}) {
  const { t } = useTranslation('applications');
  const tell = useTellFault();
  const writes = useWrites();
  const [chosen, setChosen] = useState('');
  const [busy, setBusy] = useState(false);
  const capabilityId = chosen || offer[0]?.id;
  const bind = async (id: string) => {
    setBusy(true);
    try {
      await writes.bind(applicationId, id);
      onBound(id);
    } catch (error) {
      tell(error);
      setBusy(false);
    }
  };
  return (
    <div className="stack">
      <p className="bar" data-kind="warn">
        {t('empty.unbound')}
      </p>
      {capabilityId !== undefined && (
        <div className="row">
          <select
            className="select bind-first"
            aria-label={t('form.capabilities')}
            value={capabilityId}
            onChange={(event) => setChosen(event.target.value)}
          >
            {offer.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <Button kind="primary" loading={busy} onClick={() => void bind(capabilityId)}>
            {t('created.bind')}
          </Button>
        </div>
      )}
    </div>
  );
}
