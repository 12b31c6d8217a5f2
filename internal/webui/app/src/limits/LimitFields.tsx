import { useTranslation } from 'react-i18next';
import { Input } from '../ui/form/Form';
import { LIMITS, parse, type LimitName, type Typed } from './limits';

const Line = Input<Typed>;

/** A field for each limit, with what is wrong with it or else a hint. */
export function LimitFields({ hint, autoFocus = false }: { hint: (name: LimitName) => string; autoFocus?: boolean }) {
  const { t } = useTranslation();
  return LIMITS.map((name, n) => (
    <Line
      key={name}
      name={name}
      label={t(`limits.${name}`)}
      hint={hint(name)}
      validate={(text) => (parse(text) === undefined ? t('limits.wrong') : undefined)}
      className="input number"
      inputMode="numeric"
      autoFocus={autoFocus && n === 0}
      placeholder={t('limits.none')}
    />
  ));
}
