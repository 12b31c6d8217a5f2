import { useTranslation } from 'react-i18next';
import { LIMITS, type LimitName, type Typed } from './limits';

/** A field for each limit, with what is wrong with it or else a hint. */
export function LimitFields({
  id,
  typed,
  faults,
  hint,
  autoFocus = false,
  onChange,
}: {
  id: string;
  typed: Typed;
  faults: Partial<Record<LimitName, string>>;
  hint: (name: LimitName) => string;
  autoFocus?: boolean;
  onChange: (typed: Typed) => void;
}) {
  const { t } = useTranslation();
  return LIMITS.map((name, n) => (
    <div className="field" key={name}>
      <label htmlFor={`${id}-${name}`}>{t(`limits.${name}`)}</label>
      <input
        id={`${id}-${name}`}
        className="input number"
        value={typed[name]}
        inputMode="numeric"
        autoComplete="off"
        autoFocus={autoFocus && n === 0}
        placeholder={t('limits.none')}
        aria-invalid={faults[name] !== undefined}
        aria-describedby={`${id}-${name}-hint`}
        onChange={(event) => onChange({ ...typed, [name]: event.target.value })}
      />
      <p id={`${id}-${name}-hint`} className="meta">
        {faults[name] ? (
          <span className="fault-text" role="alert">
            {faults[name]}
          </span>
        ) : (
          hint(name)
        )}
      </p>
    </div>
  ));
}
