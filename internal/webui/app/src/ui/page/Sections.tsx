import { Link, type To } from 'react-router';

/** The ways to the parts of a page, of which one is shown. */
export function Sections({
  label,
  places,
}: {
  label: string;
  places: readonly { key: string; to: To; label: string; current: boolean }[];
}) {
  return (
    <nav className="sections" aria-label={label}>
      {places.map(({ key, to, label, current }) => (
        <Link key={key} to={to} aria-current={current ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
