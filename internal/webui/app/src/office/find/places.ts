import type { Verb } from '../../find/verbs';

/** What the back office's search knows to do and to show, the most useful first. */
export const places: readonly Verb[] = [
  { key: 'health', icon: 'health', go: '/admin' },
  { key: 'lookUp', icon: 'search', go: '/admin/calls' },
  { key: 'applications', icon: 'applications', go: '/admin/applications' },
  { key: 'users', icon: 'account', go: '/admin/users' },
  { key: 'newCapability', icon: 'plus', go: '/admin/capabilities/new' },
  { key: 'newPrice', icon: 'plus', go: '/admin/prices?new' },
  { key: 'upstreams', icon: 'upstreams', go: '/admin/upstreams' },
  { key: 'audit', icon: 'audit', go: '/admin/audit' },
  { key: 'usage', icon: 'overview', go: '/admin/usage' },
  { key: 'explore', icon: 'explore', go: '/admin/explore' },
  { key: 'capabilities', icon: 'capabilities', go: '/admin/capabilities' },
  { key: 'groups', icon: 'group', go: '/admin/groups' },
  { key: 'newUpstream', icon: 'plus', go: '/admin/upstreams?new' },
  { key: 'prices', icon: 'prices', go: '/admin/prices' },
  { key: 'reconcile', icon: 'invoices', go: '/admin/reconcile' },
  { key: 'limits', icon: 'limits', go: '/admin/limits' },
  { key: 'budgets', icon: 'budgets', go: '/admin/budgets' },
  { key: 'alerts', icon: 'alerts', go: '/admin/alerts' },
  { key: 'newAlert', icon: 'plus', go: '/admin/alerts?new' },
  { key: 'spools', icon: 'spools', go: '/admin/spools' },
  { key: 'days', icon: 'spools', go: '/admin/spools' },
  { key: 'news', icon: 'ok', go: '/admin/whats-new' },
];
