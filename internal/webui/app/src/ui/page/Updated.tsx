import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** How long ago figures of today were read; `at` in ms by the browser's clock. */
export function Updated({ at }: { at: number }) {
  const { t } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  return <span className="number">{t('state.updated', { n: String(seconds) })}</span>;
}
