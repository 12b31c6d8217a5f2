import './field.css';
import { useId, useState } from 'react';
import Input from 'antd/es/input';
import Modal from 'antd/es/modal';
import { useTranslation } from 'react-i18next';
import { useFaultText } from './Fault';

/** Asks before something is done, and does it; a refusal is told in its place. */
export default function Confirm({ title, text, action, cancel, danger = false, typed, run, onClosed }: {
  title: string;
  text?: string;
  action: string;
  cancel?: string;
  danger?: boolean;
  /** What has to be typed first. */
  typed?: string;
  run: () => Promise<void> | void;
  /** Called when the dialog is gone, whatever was answered. */
  onClosed: () => void;
}) {
  const { t } = useTranslation();
  const faultText = useFaultText();
  const [open, setOpen] = useState(true);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  const [answer, setAnswer] = useState('');
  const id = useId();
  const ready = typed === undefined || answer.trim() === typed.trim();
  const go = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setFault('');
    try {
      await run();
      setOpen(false);
    } catch (error) {
      const { title: sentence, detail } = faultText(error);
      setFault(detail !== '' && detail !== sentence ? `${sentence} ${detail}` : sentence);
    }
    setBusy(false);
  };
  return (
    <Modal
      open={open}
      title={title}
      width={440}
      okText={action}
      cancelText={cancel ?? t('action.cancel')}
      okButtonProps={{ danger, disabled: !ready }}
      confirmLoading={busy}
      mask={{ closable: false }}
      closable={{ 'aria-label': t('action.close') }}
      onOk={() => void go()}
      onCancel={() => setOpen(false)}
      afterClose={onClosed}
    >
      <div className="stack">
        {text !== undefined && <p className="second">{text}</p>}
        {typed !== undefined && (
          <div>
            <label htmlFor={id}>{t('confirm.type', { text: typed })}</label>
            <Input id={id} autoFocus autoComplete="off" value={answer} onChange={(event) => setAnswer(event.target.value)} onPressEnter={() => void go()} />
          </div>
        )}
        {fault !== '' && <p className="fault-line" role="alert">{fault}</p>}
      </div>
    </Modal>
  );
}
