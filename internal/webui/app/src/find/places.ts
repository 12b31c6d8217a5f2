import { callsPath, ofDay } from '../calls/filter';
import { today } from '../range/days';
import paths from '../routes.json';
import type { Verb } from './verbs';

/** What the console's search knows to do and to show, the most useful first. */
export const places = (): readonly Verb[] => [
  { key: 'newApplication', icon: 'plus', go: '/applications?new' },
  { key: 'failedToday', icon: 'failed', go: callsPath(null, ofDay(today()), { result: 'failure' }) },
  { key: 'callsToday', icon: 'calls', go: callsPath(null, ofDay(today())) },
  { key: 'explore', icon: 'explore', go: paths.explore },
  { key: 'newAlert', icon: 'plus', go: '/alerts?new' },
  { key: 'budgets', icon: 'budgets', go: paths.budgets },
  { key: 'applications', icon: 'applications', go: paths.applications },
  { key: 'tokens', icon: 'limits', go: paths.tokens },
  { key: 'overview', icon: 'overview', go: paths.overview },
  { key: 'calls', icon: 'calls', go: paths.ownCalls },
  { key: 'capabilities', icon: 'capabilities', go: paths.capabilities },
  { key: 'alerts', icon: 'alerts', go: paths.alerts },
  { key: 'newToken', icon: 'plus', go: '/tokens?new' },
  { key: 'sessions', icon: 'account', go: paths.sessions },
  { key: 'news', icon: 'ok', go: paths.whatsNew },
  { key: 'docs', icon: 'docs', go: () => window.open('/docs', '_blank', 'noreferrer') },
];
