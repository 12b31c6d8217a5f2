import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createBrowserRouter, Outlet, RouterProvider } from 'react-router';
import { FiringBadge } from './alerts/FiringBadge';
import { FindButton, Finder, type Opened } from './find/Finder';
import { Guard } from './session/Guard';
import { FrameBones } from './ui/page/Block';
import { Crash, NotFound } from './ui/page/Failures';
import { startSite } from './ui/page/start';
import { Shell, type Place } from './ui/page/Shell';

function Frame() {
  const { t } = useTranslation(['admin', 'common']);
  const [open, setOpen] = useState<Opened>(null);
  const catalog = t('nav.catalog');
  const people = t('nav.people');
  const operation = t('nav.operation');
  const places: Place[] = [
    { to: '/admin', label: t('nav.health'), icon: 'health', alone: true, tab: true },
    { to: '/admin/usage', label: t('nav.usage'), icon: 'overview', ranged: true },
    { to: '/admin/explore', label: t('nav.explore'), icon: 'explore', ranged: true },
    { to: '/admin/capabilities', label: t('nav.capabilities'), icon: 'capabilities', group: catalog, tab: true },
    { to: '/admin/groups', label: t('nav.groups'), icon: 'group', group: catalog },
    { to: '/admin/upstreams', label: t('nav.upstreams'), icon: 'upstreams', group: catalog },
    { to: '/admin/prices', label: t('nav.prices'), icon: 'prices', group: catalog },
    { to: '/admin/reconcile', label: t('nav.reconcile'), icon: 'invoices', group: catalog },
    { to: '/admin/applications', label: t('nav.applications'), icon: 'applications', group: people, tab: true },
    { to: '/admin/users', label: t('nav.users'), icon: 'account', group: people },
    { to: '/admin/limits', label: t('nav.limits'), icon: 'limits', group: people },
    { to: '/admin/budgets', label: t('nav.budgets'), icon: 'budgets', group: people },
    { to: '/admin/calls', label: t('nav.calls'), icon: 'search', group: people, tab: true },
    { to: '/admin/alerts', label: t('nav.alerts'), icon: 'alerts', group: operation, badge: <FiringBadge site="office" /> },
    { to: '/admin/spools', label: t('nav.spools'), icon: 'spools', group: operation },
    { to: '/admin/audit', label: t('nav.audit'), icon: 'audit', group: operation },
  ];
  return (
    <Guard signIn="/admin/sign-in">
      <Shell
        places={places}
        home="/admin"
        band={t('band')}
        find={<FindButton onOpen={() => setOpen('palette')} />}
        news="/admin/whats-new"
        account={[{ key: 'keys', label: t('common:keys.title'), onSelect: () => setOpen('shortcuts') }]}
      >
        <Outlet />
      </Shell>
      <Finder site="office" open={open} onOpen={setOpen} />
    </Guard>
  );
}

const OfficeCrash = () => <Crash home="/admin" />;

// At once: the page is fetched beside the session and the words.
const router = createBrowserRouter([
  { path: '/admin/sign-in', lazy: () => import('./office/people/SignInPage'), ErrorBoundary: OfficeCrash, HydrateFallback: () => null },
  {
    Component: Frame,
    ErrorBoundary: OfficeCrash, // of the frame itself
    HydrateFallback: FrameBones,
    children: [
      {
        ErrorBoundary: OfficeCrash,
        children: [
          { path: '/admin', lazy: () => import('./figures/HealthPage') },
          { path: '/admin/usage', lazy: () => import('./figures/UsagePage') },
          { path: '/admin/explore', lazy: () => import('./explore/OfficeExplorePage') },
          { path: '/admin/groups', lazy: () => import('./office/catalog/GroupsPage') },
          { path: '/admin/capabilities', lazy: () => import('./office/catalog/CapabilitiesPage') },
          { path: '/admin/capabilities/new', lazy: () => import('./office/catalog/EditorPage') },
          { path: '/admin/capabilities/:id', lazy: () => import('./office/catalog/EditorPage') },
          { path: '/admin/capabilities/:id/figures', lazy: () => import('./figures/CapabilityFiguresPage') },
          { path: '/admin/upstreams', lazy: () => import('./office/catalog/UpstreamsPage') },
          { path: '/admin/prices', lazy: () => import('./office/money/PricesPage') },
          { path: '/admin/reconcile', lazy: () => import('./office/money/ReconcilePage') },
          { path: '/admin/limits', lazy: () => import('./office/operations/LimitsPage') },
          { path: '/admin/budgets', lazy: () => import('./office/money/BudgetsPage') },
          { path: '/admin/applications', lazy: () => import('./office/people/ApplicationsPage') },
          { path: '/admin/users', lazy: () => import('./office/people/UsersPage') },
          { path: '/admin/calls', lazy: () => import('./office/people/LookUpPage') },
          { path: '/admin/calls/:callId', lazy: () => import('./office/people/LookUpPage') },
          { path: '/admin/alerts', lazy: () => import('./alerts/OfficeAlertsPage') },
          { path: '/admin/spools', lazy: () => import('./office/operations/SpoolsPage') },
          { path: '/admin/audit', lazy: () => import('./office/operations/AuditPage') },
          { path: '/admin/whats-new', lazy: () => import('./news/OfficeNewsPage') },
          { path: '*', element: <NotFound home="/admin" /> },
        ],
      },
    ],
  },
]);

/** Starts the back office: another site on the same shell, not linked from the console. */
export const start = (): Promise<void> => startSite('office', <RouterProvider router={router} />);
