import '../capabilities/capabilities.css';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Schemas } from '../api/client';
import { useFormat } from '../format/useFormat';
import { Block, Empty } from '../ui/page/Block';
import { Button } from '../ui/Button';
import { Copy } from '../ui/Copy';
import { StatusTag } from '../ui/Tag';
import { useCapabilities } from './useCapabilities';
import type { Dialogs } from './useDialogs';

type Application = Schemas['Application'];

/** What an application is, what it may call, and its end. */
export default function Settings({ application, dialogs }: { application: Application; dialogs: Dialogs }) {
  return (
    <>
      <Facts application={application} onEdit={() => dialogs.edit(application)} />
      <Bound application={application} onBind={() => dialogs.edit(application)} />
      <End application={application} dialogs={dialogs} />
    </>
  );
}

function Facts({ application: { id, name, description, createdAt }, onEdit }: { application: Application; onEdit: () => void }) {
  const { t } = useTranslation('applications');
  const format = useFormat();
  return (
    <section className="block" aria-label={t('detail.facts')}>
      <div className="block-head">
        <h2>{t('detail.facts')}</h2>
        <span className="grow" />
        <Button onClick={onEdit}>{t('edit')}</Button>
      </div>
      <dl className="facts">
        <dt>{t('name')}</dt>
        <dd>{name}</dd>
        <dt>{t('form.description')}</dt>
        <dd>{description === '' ? '—' : description}</dd>
        <dt>{t('id')}</dt>
        <dd>
          <code>{id}</code> <Copy text={id} label={t('detail.copyId')} bare />
        </dd>
        <dt>{t('keys.created')}</dt>
        <dd className="number" title={format.exactTime(createdAt)}>
          {format.time(createdAt)}
        </dd>
      </dl>
    </section>
  );
}

function Bound({ application, onBind }: { application: Application; onBind: () => void }) {
  const { t } = useTranslation(['applications', 'common']);
  const query = useCapabilities(application.capabilityIds);
  return (
    <section className="block" aria-label={t('detail.bound')}>
      <div className="block-head">
        <h2>{t('detail.bound')}</h2>
        <span className="meta number">{application.capabilityIds.length}</span>
      </div>
      {application.capabilityIds.length === 0 ? (
        <Empty text={t('empty.unbound')}>
          <Button onClick={onBind}>{t('empty.bind')}</Button>
        </Empty>
      ) : (
        <Block query={query} height={44}>
          {(capabilities) => (
            <ul className="bound">
              {capabilities
                .filter(({ id }) => application.capabilityIds.includes(id))
                .map(({ id, name, status }) => (
                  <li key={id}>
                    <Link className="cut" to={`/capabilities/${encodeURIComponent(id)}`} title={id}>
                      {name}
                    </Link>
                    {status === 'disabled' && <StatusTag status="disabled" />}
                  </li>
                ))}
            </ul>
          )}
        </Block>
      )}
    </section>
  );
}

/** What an application that is disabled needs stands above its tabs. */
function End({ application, dialogs }: { application: Application; dialogs: Dialogs }) {
  const { t } = useTranslation('applications');
  const title = t('detail.end');
  return (
    <section className="block" aria-label={title}>
      <h2>{title}</h2>
      <dl className="application-end">
        {application.status === 'active' && (
          <div>
            <dt>
              <Button onClick={() => dialogs.setStatus(application, 'disabled')}>{t('disable')}</Button>
            </dt>
            <dd className="second">{t('ask.disableText')}</dd>
          </div>
        )}
        <div>
          <dt>
            <Button danger onClick={() => dialogs.remove(application)}>
              {t('delete')}
            </Button>
          </dt>
          <dd className="second">{t('ask.deleteText')}</dd>
        </div>
      </dl>
    </section>
  );
}
