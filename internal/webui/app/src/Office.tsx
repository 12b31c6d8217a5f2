import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createBrowserRouter, Outlet, RouterProvider } from 'react-router';
import { Guard } from './session/Guard';
import { FrameBones } from './ui/Block';
import { Crash, NotFound } from './ui/Failures';
import { Shell, type Place } from './ui/Shell';

function Frame() {
  const { t } = useTranslation('admin');
  const places: Place[] = [
    { to: '/admin', label: t('nav.health'), icon: 'health', alone: true },
    { to: '/admin/usage', label: t('nav.usage'), icon: 'overview', ranged: true },
    { to: '/admin/groups', label: t('nav.groups'), icon: 'group' },
    { to: '/admin/capabilities', label: t('nav.capabilities'), icon: 'capabilities' },
    { to: '/admin/upstreams', label: t('nav.upstreams'), icon: 'upstreams' },
    { to: '/admin/prices', label: t('nav.prices'), icon: 'prices' },
    { to: '/admin/reconcile', label: t('nav.reconcile'), icon: 'prices' },
    { to: '/admin/limits', label: t('nav.limits'), icon: 'limits' },
    { to: '/admin/alerts', label: t('nav.alerts'), icon: 'alerts' },
    { to: '/admin/spools', label: t('nav.spools'), icon: 'spools' },
    { to: '/admin/audit', label: t('nav.audit'), icon: 'audit' },
  ];
  return (
    <Guard signIn="/admin/sign-in">
      <Shell places={places} home="/admin" band={t('band')}><Outlet /></Shell>
    </Guard>
  );
}

const OfficeCrash = () => <Crash home="/admin" />;

const routes = () => [
  { path: '/admin/sign-in', lazy: () => import('./admin/SignInPage'), ErrorBoundary: OfficeCrash, HydrateFallback: () => null },
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
          { path: '/admin/groups', lazy: () => import('./admin/GroupsPage') },
          { path: '/admin/capabilities', lazy: () => import('./admin/CapabilitiesPage') },
          { path: '/admin/capabilities/new', lazy: () => import('./admin/EditorPage') },
          { path: '/admin/capabilities/:id', lazy: () => import('./admin/EditorPage') },
          { path: '/admin/capabilities/:id/figures', lazy: () => import('./figures/CapabilityFiguresPage') },
          { path: '/admin/upstreams', lazy: () => import('./admin/UpstreamsPage') },
          { path: '/admin/prices', lazy: () => import('./admin/PricesPage') },
          { path: '/admin/reconcile', lazy: () => import('./admin/ReconcilePage') },
          { path: '/admin/limits', lazy: () => import('./admin/LimitsPage') },
          { path: '/admin/alerts', lazy: () => import('./alerts/OfficeAlertsPage') },
          { path: '/admin/spools', lazy: () => import('./admin/SpoolsPage') },
          { path: '/admin/audit', lazy: () => import('./admin/AuditPage') },
          { path: '*', element: <NotFound home="/admin" /> },
        ],
      },
    ],
  },
];

/** The back office: another site on the same shell, not linked from the console. */
export function Office() {
  const [router] = useState(() => createBrowserRouter(routes()));
  return <RouterProvider router={router} />;
}
