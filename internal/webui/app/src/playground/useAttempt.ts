import { useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useTellFault } from '../ui/page/faultText';
import type { Draft } from './request';
import { send, type Attempt } from './send';

/** One try at a time; what comes is shown once a frame, and leaving the page stops it. */
export function useAttempt() {
  const [attempt, setAttempt] = useState<Attempt | null>(null);
  const [running, setRunning] = useState(false);
  const abort = useRef<AbortController | null>(null);
  const client = useQueryClient();
  const tell = useTellFault();
  useEffect(() => () => abort.current?.abort(), []);

  const start = async (applicationId: string, capabilityId: string, draft: Draft) => {
    const control = new AbortController();
    abort.current = control;
    let latest: Attempt | null = null;
    let frame = 0;
    setRunning(true);
    try {
      await send(applicationId, capabilityId, draft, control.signal, (now) => {
        latest = now;
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          setAttempt(latest);
        });
      });
    } catch (error) {
      latest = null;
      if (!control.signal.aborted) tell(error);
    } finally {
      cancelAnimationFrame(frame);
      setAttempt(latest);
      setRunning(false);
      void client.invalidateQueries({ queryKey: ['overview'] });
      void client.invalidateQueries({ queryKey: ['applications'] });
    }
  };
  return { attempt, running, start, stop: () => abort.current?.abort() };
}
