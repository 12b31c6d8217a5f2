import './session.css';
import Modal from 'antd/es/modal';
import { useTranslation } from 'react-i18next';
import { Antd } from '../ui/page/Antd';
import { Company } from './Company';
import { SignInForm } from './SignInForm';
import { currentSite } from './session';
import { useSession } from './useSession';

/** Asks to sign in again over the page, which keeps what was typed and waits. */
export default function ExpiredDialog() {
  const { t } = useTranslation(['session', 'common']);
  const { who } = useSession();
  return (
    <Antd>
      <Modal
        open
        title={t('title')}
        footer={null}
        closable={false}
        mask={{ closable: false }}
        keyboard={false}
        width={400}
        zIndex={2500}
        className="expired"
      >
        <div className="stack">
          <p className="second">{t('expired')}</p>
          <SignInForm known={who?.email} />
          {currentSite() === 'console' && <Company next="/" ownTab />}
        </div>
      </Modal>
    </Antd>
  );
}
