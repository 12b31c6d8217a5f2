import { useEffect, useState } from 'react';

/** Gives the focus back to what had it when this was mounted, on closing or unmounting: antd's own way loses it. */
export function useFocusReturn(open = true): void {
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    if (!open) return;
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true }); // the trap is gone by now
    };
  }, [open, before]);
}
