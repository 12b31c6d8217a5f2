import Button from 'antd/es/button';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useSearchParams } from 'react-router';
import type { Schemas } from '../api/client';
import { carried } from '../range/range';
import { Code, Copy } from '../ui/Copy';
import { AccessKey } from './AccessKey';
import { useCapabilities } from './useCapabilities';
import { tryPath, useCurl } from './useCurl';

/** The key of an application just created, and a first call with it. */
export function Created({ application, onDone }: { application: Schemas['NewApplication']; onDone: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const { data } = useCapabilities(application.capabilityIds);
  const bound = (data ?? []).filter(({ id, status }) => application.capabilityIds.includes(id) && status === 'enabled');
  const curl = useCurl(bound);
  const open = () => {
    onDone();
    void navigate(`/applications/${application.id}${carried(search)}`);
  };
  return (
    <div className="stack">
      <AccessKey id={application.id} name={application.name} masked={application.maskedAccessKey} first={application.accessKey} lasting />
      <p className="second">{t('created.later')}</p>
      {application.capabilityIds.length === 0 && <p className="bar" data-kind="warn">{t('empty.unbound')}</p>}
      {curl !== null && (
        <>
          <h3>{t('created.try')}</h3>
          <p className="second">{t('created.placeholder')}</p>
          <Code text={curl} />
          <div className="row">
            <Copy text={`export CALLGATE_KEY='${application.accessKey}'\n${curl}`} label={t('created.withKey')} edge />
            <Link className="quiet primary-link" to={tryPath(bound[0]!.id, application.id)} onClick={onDone}>{t('created.here')}</Link>
          </div>
        </>
      )}
      <div className="form-foot">
        <Button onClick={onDone}>{t('created.done')}</Button>
        <Button type={curl === null ? 'primary' : 'default'} onClick={open}>{t('created.open')}</Button>
      </div>
    </div>
  );
}
