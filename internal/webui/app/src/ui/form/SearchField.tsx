import './field.css';
import { Icon } from '../Icon';
import { useUrlText } from '../table/useUrlText';

interface Field {
  /** What it searches for; nothing else names it. */
  label: string;
  /** Characters at most. */
  most?: number;
}

export function SearchField({ label, most, value, onChange }: Field & { value: string; onChange: (text: string) => void }) {
  return (
    <div className="search">
      <Icon name="search" />
      <input
        className="input"
        type="search"
        aria-label={label}
        placeholder={label}
        maxLength={most}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

/** A search whose words stand in the URL, under `name`. */
export function UrlSearch({ name = 'q', ...field }: Field & { name?: string }) {
  const [text, setText] = useUrlText(name);
  return <SearchField {...field} value={text} onChange={setText} />;
}
