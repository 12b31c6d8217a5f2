import '../ui/form/field.css';
import { useEffect, useId, useState, type FormEvent } from 'react';
import Input from 'antd/es/input';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/error';
import { Button } from '../ui/Button';
import { Antd } from '../ui/page/Antd';
import { faultSentence, useFaultText } from '../ui/page/faultText';
import { sendCode, signIn } from './session';

const RESEND_SECONDS = 60;

/** E-mail, then six digits; for the page and for the dialog over an open page. */
export function SignInForm({ known, onDone }: { known?: string | undefined; onDone?: (() => void) | undefined }) {
  const [email, setEmail] = useState(known ?? '');
  const [sent, setSent] = useState(false);
  return sent ? (
    <CodeStep email={email} onChange={() => setSent(false)} onDone={onDone} />
  ) : (
    <EmailStep email={email} locked={known !== undefined} onEmail={setEmail} onSent={() => setSent(true)} />
  );
}

function EmailStep({
  email,
  locked,
  onEmail,
  onSent,
}: {
  email: string;
  locked: boolean;
  onEmail: (email: string) => void;
  onSent: () => void;
}) {
  const { t } = useTranslation(['session', 'common']);
  const faultText = useFaultText();
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const id = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!/^\S+@\S+$/.test(email.trim())) return setFault(t('emailBad'));
    setBusy(true);
    try {
      await sendCode(email.trim());
      onSent();
    } catch (error) {
      setFault(faultSentence(faultText(error)));
      setBusy(false);
    }
  };
  return (
    <form className="stack" noValidate onSubmit={(event) => void submit(event)}>
      <div>
        <label htmlFor={id}>{t('email')}</label>
        <input
          className="input"
          id={id}
          type="email"
          name="email"
          autoComplete="email"
          autoFocus={!locked}
          disabled={locked}
          value={email}
          aria-invalid={fault !== ''}
          aria-describedby={`${id}-fault`}
          onChange={(event) => {
            onEmail(event.target.value);
            setFault('');
          }}
        />
        <FaultLine id={`${id}-fault`} text={fault} />
      </div>
      <Button kind="primary" type="submit" block loading={busy}>
        {t('send')}
      </Button>
    </form>
  );
}

function CodeStep({ email, onChange, onDone }: { email: string; onChange: () => void; onDone?: (() => void) | undefined }) {
  const { t } = useTranslation(['session', 'common']);
  const faultText = useFaultText();
  const [code, setCode] = useState('');
  const [attempt, setAttempt] = useState(0);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const [wait, setWait] = useState(RESEND_SECONDS);
  const id = useId();
  useEffect(() => {
    if (wait <= 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);

  const enter = async (digits: string) => {
    setCode(digits);
    setBusy(true);
    try {
      await signIn(email.trim(), digits);
      onDone?.();
    } catch (error) {
      setFault(error instanceof ApiError && error.status === 401 ? t('wrong') : faultSentence(faultText(error)));
      setCode('');
      setAttempt(attempt + 1); // a new row of boxes, the first one focused
      setBusy(false);
    }
  };
  const again = async () => {
    setFault('');
    setWait(RESEND_SECONDS);
    try {
      await sendCode(email.trim());
    } catch (error) {
      setFault(faultSentence(faultText(error)));
    }
  };
  return (
    <div className="stack">
      <p className="second">{t('sent', { email: email.trim() })}</p>
      <div role="group" aria-label={t('code')} aria-describedby={`${id}-fault`}>
        <Antd>
          <Input.OTP
            key={attempt}
            length={6}
            size="large"
            autoFocus
            autoComplete="one-time-code"
            inputMode="numeric"
            value={code}
            disabled={busy}
            status={fault ? 'error' : ''}
            formatter={(text) => text.replace(/\D/g, '')}
            onChange={(digits) => void enter(digits)}
          />
        </Antd>
        <FaultLine id={`${id}-fault`} text={fault} />
      </div>
      <div className="row">
        <Button disabled={wait > 0 || busy} onClick={() => void again()}>
          {wait > 0 ? t('resendIn', { seconds: String(wait) }) : t('resend')}
        </Button>
        <Button kind="text" disabled={busy} onClick={onChange}>
          {t('change')}
        </Button>
      </div>
    </div>
  );
}

function FaultLine({ id, text }: { id: string; text: string }) {
  return (
    <p id={id} className="fault-line" role="alert">
      {text}
    </p>
  );
}
