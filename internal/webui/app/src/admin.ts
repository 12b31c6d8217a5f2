import { startSession } from './session/session';

startSession('office'); // it is asked for while the rest is on its way
void import('./Office').then(({ start }) => start());
