/** The icons of the frame, drawn on 20 × 20 with one stroke. They say nothing to a screen reader. */
const shapes = {
  overview: 'M3 16.5h14M5.5 14v-4M10 14V5M14.5 14V8',
  applications: 'M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z',
  health: 'M2.500 10.500h3.500l2-5.500 4 10.500 2-5h3.500',
  capabilities: 'M10 2.5 16.5 6v8L10 17.5 3.5 14V6zM3.5 6 10 9.800 16.5 6M10 9.800v7.700',
  docs: 'M5 2.5h7l3.5 3.5v11.5H5zM12 2.5V6h3.5M7.5 10h5M7.5 13h5',
  language: 'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M2.5 10h15M10 2.5c2.5 2.5 2.5 12.5 0 15M10 2.5c-2.5 2.5-2.5 12.5 0 15',
  theme: 'M10 2.5a7.5 7.5 0 1 0 0 15zM10 2.5a7.5 7.5 0 0 1 0 15',
  account: 'M10 3a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M3.5 17.5c.5-3.5 3-5 6.5-5s6 1.5 6.5 5',
  group: 'M2.5 5.5h5l1.5 2h8.5v9h-15z',
  prices: 'M3 10V3h7l7 7-7 7zM6.500 6.500h.1',
  invoices: 'M4.500 2.500h11v15l-2.200-1.500-2.200 1.500-1.100-.8-1.100.8-2.200-1.500-2.200 1.500zM7.500 7h5M7.500 10.500h5',
  upstreams: 'M3 10h4M13 4.500h4M13 10h4M13 15.500h4M7 10h6M7 10l6-5.500M7 10l6 5.500',
  limits: 'M3 14.5a7 7 0 0 1 14 0M10 14.500 13.500 9M3 14.500h1.500M15.500 14.500H17',
  explore: 'M3.500 16.500v-13M3.500 16.500h13M7 13.500v-3M10.500 13.500v-7M14 13.500v-5',
  budgets: 'M3 6.500h14v10h-14zM3 6.500 13.500 3.500v3M13.500 11.500h.1',
  spools: 'M3.5 3.500h13v5h-13zM3.5 11.500h13v5h-13zM6.500 6h.1M6.500 14h.1',
  alerts: 'M5 14V9a5 5 0 0 1 10 0v5M3.500 14h13M8.500 16.800h3',
  calls: 'M3 5.500h9M9.500 3 12 5.500 9.500 8M17 14.500H8M10.500 12 8 14.500l2.500 2.500',
  audit: 'M6 5h10M6 10h10M6 15h10M3 5h.1M3 10h.1M3 15h.1',
  left: 'M12 4.5 6.5 10 12 15.5',
  right: 'M8 4.5 13.5 10 8 15.5',
  down: 'M4.5 7.5 10 13l5.5-5.5',
  up: 'M4.5 12.5 10 7l5.5 5.5',
  ok: 'M4 10.5 8 14.5 16 5.5',
  failed: 'M5 5l10 10M15 5 5 15',
  warn: 'M10 4v7.5M10 15v.1',
  pause: 'M7 4.5v11M13 4.5v11',
  copy: 'M7 6.5h9.5v11H7zM4 13.5h-.5v-11H13V3',
  more: 'M4.5 10h.1M10 10h.1M15.5 10h.1',
  retry: 'M16 10a6 6 0 1 1-2-4.5L16.5 8M16.5 3.5V8H12',
  external: 'M8 4.5H4.5v11h11V12M11.5 3.5h5v5M16.5 3.5 9.5 10.5',
  plus: 'M10 4v12M4 10h12',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4',
  handle: 'M7.5 5h.1M7.5 10h.1M7.5 15h.1M12.5 5h.1M12.5 10h.1M12.5 15h.1',
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' || name === 'handle' || name === 'audit' ? 2 : 1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  );
}
