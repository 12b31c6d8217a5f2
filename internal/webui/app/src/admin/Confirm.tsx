import Modal from 'antd/es/modal';
import { useTranslation } from 'react-i18next';

/** Asks before what cannot be overlooked; Escape and Cancel mean no. */
export default function Confirm({ title, text, yes, no, onYes, onNo }: { title: string; text?: string; yes: string; no?: string; onYes: () => void; onNo: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal open title={title} okText={yes} cancelText={no ?? t('action.cancel')} okButtonProps={{ danger: true }} onOk={onYes} onCancel={onNo} width={440} destroyOnHidden>
      {text && <p>{text}</p>}
    </Modal>
  );
}
