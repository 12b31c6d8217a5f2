import '../alerts/alerts.css';
import Modal from 'antd/es/modal';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { AlertForm } from '../alerts/AlertForm';
import { useQuantity } from '../alerts/useQuantity';
import { applicationQueries } from '../applications/queries';
import { Antd } from '../ui/page/Antd';
import { useFocusReturn } from '../ui/keys/useFocusReturn';
import type { Watch } from './alert';

const MOST_NAME = 64;

/** Makes the alert that a question suggests. */
export default function AlertDialog({ watch, onClosed }: { watch: Watch; onClosed: () => void }) {
  const { t } = useTranslation(['explore', 'alerts', 'common']);
  const quantity = useQuantity();
  const { typed, rule, usual } = watch;
  const { data, isPending } = useQuery({ ...applicationQueries.get(typed.targetId), enabled: watch.name === null });
  useFocusReturn();
  const kind = t(`alerts:kinds.${typed.kind}`);
  const application = watch.name ?? data?.name;
  const most = MOST_NAME - t('alert.name', { name: '', kind }).length;
  const named = (name: string) => t('alert.name', { name: name.length > most ? `${name.slice(0, most - 1)}…` : name, kind });
  return (
    <Antd>
      <Modal
        open
        title={t('alert.action')}
        width={720}
        footer={null}
        mask={{ closable: false }}
        closable={{ 'aria-label': t('common:action.close') }}
        transitionName="ant-fade"
        onCancel={onClosed}
      >
        {(application !== undefined || !isPending) && (
          <AlertForm
            site="own"
            alert={null}
            suggestion={{
              typed: { ...typed, name: application === undefined ? kind : named(application) },
              why: rule === null ? '' : t(`alert.why.${rule}`, { usual: quantity({ kind: typed.kind, unit: typed.currency }, usual) }),
            }}
            onClose={onClosed}
          />
        )}
      </Modal>
    </Antd>
  );
}
