import { useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../Icon';

export interface Collision {
  field: string;
  label: string;
  theirs: string;
  /** Absent where nothing was edited here: theirs is taken over. */
  ours?: string;
  /** Whether ours stands in the form. */
  kept?: boolean;
}

/** What somebody else changed while it was edited here, and which of two edits is to stand. */
export function Conflict({ collisions, onChoose }: { collisions: readonly Collision[]; onChoose: (field: string, ours: boolean) => void }) {
  const { t } = useTranslation();
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus(), []);
  const shown = (text: string) => (text === '' ? t('conflict.nothing') : text);
  const asked = collisions.some(({ ours }) => ours !== undefined);
  return (
    <section ref={place} className="conflict" role="alert" tabIndex={-1} aria-label={t('conflict.title')}>
      <p>
        <Icon name="warn" /> <strong>{t('conflict.title')}</strong>{' '}
        {t(asked ? 'conflict.choose' : collisions.length > 0 ? 'conflict.look' : 'conflict.unseen')}
      </p>
      <dl>
        {collisions.map(({ field, label, theirs, ours, kept }) => (
          <div key={field}>
            <dt>{label}</dt>
            <dd>
              {ours === undefined ? (
                t('conflict.taken', { theirs: shown(theirs) })
              ) : (
                <Choice
                  label={label}
                  theirs={t('conflict.theirs', { text: shown(theirs) })}
                  ours={t('conflict.ours', { text: shown(ours) })}
                  kept={kept === true}
                  onChoose={(own) => onChoose(field, own)}
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Choice({
  label,
  theirs,
  ours,
  kept,
  onChoose,
}: {
  label: string;
  theirs: string;
  ours: string;
  kept: boolean;
  onChoose: (ours: boolean) => void;
}) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label}>
      {(
        [
          [true, ours],
          [false, theirs],
        ] as const
      ).map(([own, text]) => (
        <label key={text} className="check">
          <input type="radio" name={name} checked={kept === own} onChange={() => onChoose(own)} />
          {text}
        </label>
      ))}
    </div>
  );
}
