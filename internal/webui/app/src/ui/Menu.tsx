import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';

export interface MenuItem {
  key: string;
  label: ReactNode;
  onSelect: () => void;
  /** Set for a choice among several. */
  checked?: boolean;
}

/** A button that opens a list of commands; arrows move, Escape closes, focus returns. */
export function Menu({
  label,
  button,
  head,
  groups,
  at = 'down',
  className = 'quiet square',
}: {
  label: string;
  button: ReactNode;
  head?: ReactNode;
  groups: MenuItem[][];
  at?: 'up' | 'down';
  className?: string;
}) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!open) return;
    place.current?.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
    const outside = (event: PointerEvent) => {
      if (!place.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);

  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      return close();
    }
    if (event.key === 'Tab') return setOpen(false);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...(place.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
    items[(items.indexOf(document.activeElement as HTMLElement) + step + items.length) % items.length]?.focus();
  };

  return (
    <div className="menu-place" ref={place} onKeyDown={open ? keys : undefined}>
      <button
        ref={opener}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <div className="menu" data-at={at}>
          {head}
          <div id={id} role="menu" aria-label={label}>
            {groups.map((items, n) => (
              <div key={items[0]?.key ?? n} role="group">
                {n > 0 && <hr />}
                {items.map((item) => (
                  <button
                    key={item.key}
                    type="button"
                    tabIndex={-1}
                    role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
                    aria-checked={item.checked}
                    onClick={() => {
                      close();
                      item.onSelect();
                    }}
                  >
                    {item.label}
                  </button>
                ))}
              </div>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
