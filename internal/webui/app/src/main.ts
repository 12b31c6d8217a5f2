import { startSession } from './session/session';

startSession('console'); // it is asked for while the rest is on its way
void import('./App').then(({ start }) => start());
