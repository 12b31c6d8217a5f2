import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { AccessKey } from './AccessKey';
import { Keys } from './Keys';

/** The keys of an application, that which it was made with first. */
export default function KeysTab({ application: { id, name, maskedAccessKey, ceilings } }: { application: Schemas['Application'] }) {
  const { t } = useTranslation('applications');
  return (
    <>
      <section className="block" aria-label={t('key')}>
        <AccessKey id={id} name={name} masked={maskedAccessKey} />
      </section>
      <Keys applicationId={id} ceilings={ceilings} />
    </>
  );
}
