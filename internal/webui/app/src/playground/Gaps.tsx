import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon';
import type { Gap } from './replay';

const MOST = 8;

/** Says what is to be filled in before the request can be sent again; each place is a button that selects it. */
export function Gaps({ gaps, fields }: { gaps: readonly Gap[]; fields: Record<Gap['field'], string> }) {
  const { t } = useTranslation('playground');
  if (gaps.length === 0) return null;
  const select = ({ field, from, to }: Gap) => {
    const element = document.getElementById(fields[field]) as HTMLInputElement | HTMLTextAreaElement | null;
    element?.focus();
    element?.setSelectionRange(from, to);
  };
  return (
    <div className="bar gaps" data-kind="warn" role="status">
      <span>
        <Icon name="warn" /> {gaps.length === 1 ? t('replay.gap') : t('replay.gaps', { n: String(gaps.length) })}
      </span>
      <span className="row">
        {gaps.slice(0, MOST).map((gap) => (
          <button key={`${gap.field} ${gap.from}`} type="button" className="quiet" data-edge onClick={() => select(gap)}>
            {gap.field === 'path' ? t('path') : t('replay.line', { n: String(gap.line) })}
          </button>
        ))}
        {gaps.length > MOST && <span className="meta">{t('replay.more', { n: String(gaps.length - MOST) })}</span>}
      </span>
    </div>
  );
}
