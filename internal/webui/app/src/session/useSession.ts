import { useSyncExternalStore } from 'react';
import { currentSession, subscribe, type Session } from './session';

/** Who is signed in. */
export const useSession = (): Session => useSyncExternalStore(subscribe, currentSession);
