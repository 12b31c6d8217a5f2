import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon';

type Step = (() => void) | undefined;

/** One call in the place of the list: back to it, and ‹ › to the calls beside it. */
export function Panel({
  callId,
  title,
  back,
  previous,
  next,
  onBack,
  onPrevious,
  onNext,
  children,
}: {
  callId: string;
  title: string;
  back?: string;
  previous: string;
  next: string;
  onBack: () => void;
  onPrevious: Step;
  onNext: Step;
  children: ReactNode;
}) {
  const { t } = useTranslation('calls');
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    // ‹ and › keep the focus; what was below them is gone
    if (!place.current?.contains(document.activeElement)) place.current?.focus({ preventScroll: true });
  }, [callId]);
  return (
    <section ref={place} className="failure stack" tabIndex={-1} aria-label={title}>
      <div className="row">
        <button type="button" className="quiet" onClick={onBack}>
          <Icon name="left" /> {back ?? t('failure.back')}
        </button>
        <span className="grow" />
        <button
          type="button"
          className="quiet square"
          data-edge
          aria-label={previous}
          title={previous}
          aria-disabled={!onPrevious}
          onClick={onPrevious}
        >
          <Icon name="left" />
        </button>
        <button type="button" className="quiet square" data-edge aria-label={next} title={next} aria-disabled={!onNext} onClick={onNext}>
          <Icon name="right" />
        </button>
      </div>
      {children}
    </section>
  );
}
