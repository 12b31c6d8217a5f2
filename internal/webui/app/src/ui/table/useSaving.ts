import { useState } from 'react';
import { useTellFault } from '../page/faultText';

/** What saves a file: `save` runs once at a time, and its fault is told. The code that writes files comes when one is saved. */
export function useSaving(save: (files: typeof import('./saveCsv')) => Promise<void>): { busy: boolean; start: () => void } {
  const tell = useTellFault();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await save(await import('./saveCsv'));
    } catch (error) {
      tell(error);
    } finally {
      setBusy(false);
    }
  };
  return { busy, start: () => void run() };
}
