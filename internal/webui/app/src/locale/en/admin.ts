import type { Same } from '../same';
import type zh from '../zh/admin';
import officeCatalog from './officeCatalog';
import officeUpstreams from './officeUpstreams';
import officeMoney from './officeMoney';
import officePeople from './officePeople';

const admin: Same<typeof zh> = {
  band: 'Back office',
  nav: {
    health: 'Health',
    usage: 'Usage',
    explore: 'Explore',
    catalog: 'Catalog',
    people: 'Who calls',
    operation: 'Operation',
    applications: 'Applications',
    users: 'Users',
    calls: 'Find a call',
    reconcile: 'Invoices',
    groups: 'Groups',
    capabilities: 'Capabilities',
    upstreams: 'Upstreams',
    prices: 'Prices',
    limits: 'Limits',
    budgets: 'Budgets',
    alerts: 'Alerts',
    spools: 'Ingestion',
    audit: 'Audit',
  },
  ...officeCatalog,
  ...officeUpstreams,
  ...officeMoney,
  ...officePeople,
};

export default admin;
