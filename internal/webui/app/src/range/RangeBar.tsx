import './range.css';
import { lazy, Suspense, useEffect, useRef, useState, type ComponentType, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../format/useFormat';
import { Icon } from '../ui/Icon';
import { useKeys } from '../ui/keys/useKeys';
import { custom, presetOf, PRESETS, shift, type Preset } from './range';
import type { RangeState } from './useRange';

const load = () => import('./CustomRange');
const CustomRange = lazy(load);

const KEYS: Record<Preset, string> = { '7d': 'W', '30d': 'T', month: 'M', 'last-month': 'L' };

/**
 * 7 days, 30 days, this and last month, custom; earlier and later; compare. Keys W T M L C X ← →. `collectedSince` switches
 * the comparison off where the period before was not recorded; without `compare` there is none.
 */
export function RangeBar({ state, compare = false, comparable = true }: { state: RangeState; compare?: boolean; comparable?: boolean }) {
  const { t } = useTranslation();
  const { span } = useFormat();
  const { range, today, setRange } = state;
  const [picking, setPicking] = useState(false);
  const dates = useFocusAfter(picking);
  const { Warm, near } = useWarmed();
  const [earlier, later] = [shift(range, -1, today), shift(range, 1, today)];
  const choose = (preset: Preset) => () => setRange(presetOf(preset, today));
  const toggle = compare && comparable ? () => state.setComparing(!state.comparing) : undefined;
  useKeys({
    w: choose('7d'),
    t: choose('30d'),
    m: choose('month'),
    l: choose('last-month'),
    c: () => setPicking(true),
    x: toggle,
    ArrowLeft: earlier ? () => setRange(earlier) : undefined,
    ArrowRight: later ? () => setRange(later) : undefined,
  });
  return (
    <div className="range" role="group" aria-label={t('range.label')}>
      <div className="choice">
        {PRESETS.map((preset) => (
          <button
            key={preset}
            type="button"
            aria-pressed={range.preset === preset}
            aria-keyshortcuts={KEYS[preset]}
            aria-label={t(`range.presets.${preset}`)}
            onClick={choose(preset)}
          >
            <span className="wide">{t(`range.presets.${preset}`)}</span>
            <span className="narrow">{t(`range.short.${preset}`)}</span>
          </button>
        ))}
        <button
          type="button"
          aria-pressed={range.preset === null}
          aria-keyshortcuts="C"
          title={t('range.pick')}
          onClick={() => setPicking(true)}
          {...near}
        >
          {t('range.custom')}
        </button>
      </div>
      <div className="range-step">
        <button
          type="button"
          className="quiet square"
          aria-label={t('range.earlier')}
          aria-keyshortcuts="ArrowLeft"
          aria-disabled={!earlier}
          onClick={() => earlier && setRange(earlier)}
        >
          <Icon name="left" />
        </button>
        {picking ? (
          <Suspense fallback={<span className="range-span">{span(range.start, range.end)}</span>}>
            <CustomRange range={range} today={today} open={picking} onOpen={setPicking} onChange={setRange} />
          </Suspense>
        ) : (
          <button ref={dates} type="button" className="quiet range-span" title={t('range.pick')} onClick={() => setPicking(true)} {...near}>
            {span(range.start, range.end)}
          </button>
        )}
        <button
          type="button"
          className="quiet square"
          aria-label={t('range.later')}
          aria-keyshortcuts="ArrowRight"
          aria-disabled={!later}
          onClick={() => later && setRange(later)}
        >
          <Icon name="right" />
        </button>
      </div>
      {Warm && <Warm />}
      <span className="meta range-zone">{t('range.zone')}</span>
      {compare && (
        <button
          type="button"
          className="quiet"
          data-edge
          aria-pressed={state.comparing && comparable}
          aria-keyshortcuts="X"
          disabled={!comparable}
          title={comparable ? undefined : t('range.compareOff')}
          onClick={toggle}
        >
          {t('range.compare')}
        </button>
      )}
    </div>
  );
}

/** Shows some days of the range. The dates get the focus: what was clicked may be gone with the range. */
export function showDays({ today, setRange }: RangeState, first: string, last: string): void {
  const days = custom(first, last, today);
  if (!days) return;
  setRange(days);
  document.querySelector<HTMLElement>('.range-span')?.focus();
}

/** What the calendar needs before it can stand is done when the pointer or the focus comes to its buttons, not in the click. */
function useWarmed(): { Warm: ComponentType | null; near: { onPointerEnter: () => void; onFocus: () => void } } {
  const [Warm, setWarm] = useState<ComponentType | null>(null);
  const warm = () =>
    void load().then(
      (calendar) => setWarm(() => calendar.Warm),
      () => undefined, // asked for again when it is opened
    );
  return { Warm, near: { onPointerEnter: warm, onFocus: warm } };
}

/** Where the focus goes when the calendar took its field away. */
function useFocusAfter(picking: boolean): RefObject<HTMLButtonElement | null> {
  const dates = useRef<HTMLButtonElement>(null);
  const picked = useRef(false);
  useEffect(() => {
    if (picked.current && !picking && document.activeElement === document.body) dates.current?.focus();
    picked.current = picking;
  }, [picking]);
  return dates;
}
