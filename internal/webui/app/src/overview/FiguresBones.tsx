import { useTranslation } from 'react-i18next';
import { Bones, RowBones } from '../ui/page/Block';

/** Figures, chart and usage of a period before they are read. */
export function FiguresBones({ tiles }: { tiles: number }) {
  const { t } = useTranslation();
  const head = (
    <div className="block-head">
      <div className="bone line" />
    </div>
  );
  return (
    <div role="status" aria-label={t('state.loading')}>
      <div className="block">
        <div className="tiles" data-of={tiles}>
          {Array.from({ length: tiles }, (_, n) => (
            <div key={n} className="tile">
              <div className="bone" />
              <div className="bone" />
            </div>
          ))}
        </div>
        <div className="tiles-foot">
          <div className="bone line" />
        </div>
      </div>
      <div className="block">
        {head}
        <div className="bone chart-bone" />
      </div>
      <div className="block">
        {head}
        <table className="table wide">
          <RowBones rows={3} columns={6} />
        </table>
        <div className="narrow">
          <Bones height={132} />
        </div>
      </div>
    </div>
  );
}
