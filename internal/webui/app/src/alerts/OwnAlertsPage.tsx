import { useTranslation } from 'react-i18next';
import { useTitle } from '../ui/page/useTitle';
import { Alerts } from './Alerts';

/** What an owner wants to be told of. */
export function Component() {
  const { t } = useTranslation('alerts');
  useTitle(t('title'));
  return <Alerts site="own" />;
}
