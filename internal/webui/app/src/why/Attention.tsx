import './why.css';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { callsPath } from '../calls/filter';
import { useReasonText } from '../calls/useReasonText';
import { useFormat } from '../format/useFormat';
import type { RangeState } from '../range/useRange';
import { Icon } from '../ui/Icon';
import { reasonOf, whyQueries, type Reason } from './queries';

/** What most calls of the range failed of, and whom it hit most: one step to exactly these calls. */
export default function Attention({ state, ranged, calls }: { state: RangeState; ranged: string; calls: number }) {
  const { t } = useTranslation(['calls', 'common']);
  const format = useFormat();
  const words = useReasonText();
  const { data } = useQuery(whyQueries.reasons(null, state.range, state.holdsToday));
  const reasons: readonly Reason[] = data?.items ?? [];
  const worst = reasons[0];
  const top = worst && 'topApplication' in worst ? worst.topApplication : null;
  if (!worst || !top) return null;
  const { model, name, upstreamStatus } = worst;
  const what = [words(worst), model === '' ? t('common:metrics.unspecified') : name || model, top.name].join(' · ');
  return (
    <>
      <Icon name="warn" size={14} />
      <span className="cut" title={what}>
        {t('why.attention')}{' '}
        <Link to={callsPath(top.id, ranged, { model, result: 'failure', reason: reasonOf(worst), upstreamStatus: upstreamStatus ?? 0 })}>
          {what}
        </Link>
      </span>
      <span className="number">
        {t('why.share', { n: format.count(top.failures), share: `${((top.failures / calls) * 100).toFixed(1)}%` })}
      </span>
    </>
  );
}
