/** What a list is narrowed to, with the click that takes it away. */
export function Removable({ label, text, title, onRemove }: { label: string; text: string; title: string; onRemove: () => void }) {
  return (
    <button type="button" className="quiet removable" title={title} onClick={onRemove}>
      <span>
        {label}: {text}
      </span>{' '}
      ×
    </button>
  );
}
