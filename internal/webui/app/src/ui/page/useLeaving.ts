import { useEffect } from 'react';
import { useBlocker } from 'react-router';

type Blocks = Exclude<Parameters<typeof useBlocker>[0], boolean>;

/**
 * Holds back going to another page, by link, Back or reload, while there is something to lose; `blocks`
 * says of which going. Null until then.
 */
export function useLeaving(dirty: boolean, blocks: Blocks = () => true): { go: () => void; stay: () => void } | null {
  const blocker = useBlocker((going) => dirty && blocks(going));
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [dirty]);
  return blocker.state === 'blocked' ? { go: blocker.proceed, stay: blocker.reset } : null;
}
