import './field.css';
import { useId, useState, type ReactNode } from 'react';
import Modal from 'antd/es/modal';
import { useTranslation } from 'react-i18next';
import { Antd } from '../page/Antd';
import { Button } from '../Button';
import { composing } from './composing';
import { faultSentence, useFaultText } from '../page/faultText';
import { RequestId } from '../page/RequestId';
import { useFocusReturn } from '../keys/useFocusReturn';

/**
 * Asks before something is done, and does it; a refusal is told in its place. It stands as long as it
 * is mounted: no press is lost to a dialog on its way out. It fades in where it stays, since a button
 * that grows to its place is missed by a quick click.
 */
export default function Confirm({
  title,
  text,
  action,
  cancel,
  danger = false,
  typed,
  ready: given = true,
  children,
  run,
  onClosed,
}: {
  title: string;
  text?: string;
  action: string;
  cancel?: string;
  danger?: boolean;
  /** What has to be typed first. */
  typed?: string;
  /** Whether what is to be chosen with it is. */
  ready?: boolean;
  /** What is to be chosen with it. */
  children?: ReactNode;
  run: () => Promise<void> | void;
  /** Takes the dialog away; called once, with whether it was done. */
  onClosed: (done: boolean) => void;
}) {
  const { t } = useTranslation();
  const faultText = useFaultText();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const [answer, setAnswer] = useState('');
  const id = useId();
  useFocusReturn();
  const ready = given && (typed === undefined || answer.trim() === typed.trim());
  const go = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setFault(null);
    try {
      await run();
      onClosed(true);
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Antd>
      <Modal
        open
        title={title}
        width={440}
        footer={
          <div className="form-foot">
            <Button disabled={busy} onClick={() => onClosed(false)}>
              {cancel ?? t('action.cancel')}
            </Button>
            <Button kind="primary" danger={danger} disabled={!ready} loading={busy} onClick={() => void go()}>
              {action}
            </Button>
          </div>
        }
        mask={{ closable: false }}
        closable={{ 'aria-label': t('action.close') }}
        transitionName="ant-fade"
        onCancel={() => !busy && onClosed(false)}
      >
        <div
          className="stack"
          onKeyDown={({ key, target, nativeEvent }) =>
            key === 'Enter' && target instanceof HTMLInputElement && !composing(nativeEvent) && void go()
          }
        >
          {text !== undefined && <p className="second">{text}</p>}
          {children}
          {typed !== undefined && (
            <div>
              <label htmlFor={id}>{t('confirm.type', { text: typed })}</label>
              <input
                className="input"
                id={id}
                autoFocus
                autoComplete="off"
                value={answer}
                onChange={(event) => setAnswer(event.target.value)}
              />
            </div>
          )}
          {fault !== null && (
            <div className="fault-line" role="alert">
              {faultSentence(faultText(fault))} <RequestId error={fault} />
            </div>
          )}
        </div>
      </Modal>
    </Antd>
  );
}
