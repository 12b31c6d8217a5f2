import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client';
import { ApiError } from '../../api/error';
import { useFormat } from '../../format/useFormat';
import { Button } from '../../ui/Button';
import { useFaultText } from '../../ui/page/faultText';
import { Icon } from '../../ui/Icon';
import { useCheck } from '../writes';
import type { Settings } from './settings';

/** Tries the settings as they are typed; without a typed key the stored one is used. */
export function Check({ id, now }: { id: string | null; now: Settings }) {
  const { t } = useTranslation(['admin', 'common']);
  const faultText = useFaultText();
  const check = useCheck();
  const start = () => {
    const { upstreamBaseUrl, upstreamAuth, upstreamKey, upstreamModel, defaultPath } = now;
    check.mutate({
      ...(id === null ? {} : { id }),
      upstreamBaseUrl,
      upstreamAuth,
      upstreamModel,
      defaultPath,
      ...(upstreamKey === '' ? {} : { upstreamKey }),
    });
  };
  const wrong = check.error instanceof ApiError ? Object.values(check.error.fields).join('; ') : '';
  return (
    <div className="stack">
      <div className="row">
        <Button onClick={start} loading={check.isPending}>
          {check.isPending ? t('editor.checking') : t('editor.check')}
        </Button>
        <span className="meta">{t('editor.checkNote')}</span>
      </div>
      <div role="status" aria-live="polite">
        {check.data && !check.isPending && <Result result={check.data} />}
        {check.isError && (
          <div className="bar" data-kind="failed">
            <Icon name="failed" />
            {faultText(check.error).title} {wrong}
          </div>
        )}
      </div>
    </div>
  );
}

export function Result({ result }: { result: Schemas['CheckResult'] }) {
  const { t } = useTranslation(['admin', 'common']);
  const format = useFormat();
  const facts = [
    ...(result.ok ? [] : [t('editor.stage', { stage: t(`editor.stages.${result.stage}`) })]),
    ...(result.status === null ? [] : [t('editor.answered', { status: String(result.status) })]),
    format.duration(result.durationMs),
  ];
  return (
    <div className="bar" data-kind={result.ok ? 'ok' : 'failed'}>
      <Icon name={result.ok ? 'ok' : 'failed'} />
      <span>
        <strong>{result.ok ? t('editor.checkOk') : t('editor.checkFailed')}</strong> · {facts.join(' · ')}
        <br />
        {result.message}
      </span>
    </div>
  );
}
