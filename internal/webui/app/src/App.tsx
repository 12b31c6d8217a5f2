import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { createBrowserRouter, Outlet, RouterProvider, useNavigate } from 'react-router';
import { FiringBadge } from './alerts/FiringBadge';
import { Guard } from './session/Guard';
import { FindButton, Finder, type Opened } from './find/Finder';
import { FrameBones } from './ui/page/Block';
import { Crash, NotFound } from './ui/page/Failures';
import { withWords } from './locale/locale';
import paths from './routes.json';
import { startSite } from './ui/page/start';
import { Shell, type Place } from './ui/page/Shell';

function Frame() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Opened>(null);
  const places: Place[] = [
    { to: '/', label: t('nav.overview'), icon: 'overview', ranged: true, tab: true },
    { to: '/applications', label: t('nav.applications'), icon: 'applications', ranged: true, tab: true },
    { to: '/calls', label: t('nav.calls'), icon: 'calls', ranged: true },
    { to: '/capabilities', label: t('nav.capabilities'), icon: 'capabilities' },
    { to: '/explore', label: t('nav.explore'), icon: 'explore', ranged: true, tab: true },
    { to: '/budgets', label: t('nav.budgets'), icon: 'budgets' },
    { to: '/alerts', label: t('nav.alerts'), icon: 'alerts', badge: <FiringBadge site="own" />, tab: true },
  ];
  return (
    <Guard signIn="/sign-in">
      <Shell
        places={places}
        home="/"
        find={<FindButton onOpen={() => setOpen('palette')} />}
        news={paths.whatsNew}
        account={[
          { key: 'sessions', label: t('account.sessions'), onSelect: () => void navigate(paths.sessions) },
          { key: 'tokens', label: t('account.tokens'), onSelect: () => void navigate(paths.tokens) },
          { key: 'keys', label: t('keys.title'), onSelect: () => setOpen('shortcuts') },
        ]}
      >
        <Outlet />
      </Shell>
      <Finder site="console" open={open} onOpen={setOpen} />
    </Guard>
  );
}

/** The pages inside the frame; the server knows their addresses from the same file. */
const pages: Record<Exclude<keyof typeof paths, 'signIn'>, () => Promise<{ Component: () => ReactNode }>> = {
  overview: () => import('./overview/OverviewPage'),
  capabilities: () => withWords('capabilities', import('./capabilities/CapabilitiesPage')),
  capability: () => withWords('capabilities', import('./capabilities/CapabilityPage')),
  applications: () => import('./applications/ApplicationsPage'),
  application: () => import('./applications/ApplicationPage'),
  calls: () => import('./calls/CallsPage'),
  ownCalls: () => import('./calls/CallsPage'),
  call: () => import('./calls/CallPage'),
  explore: () => withWords('explore', import('./explore/ExplorePage')),
  budgets: () => import('./budgets/BudgetsPage'),
  alerts: () => import('./alerts/OwnAlertsPage'),
  sessions: () => import('./session/SessionsPage'),
  tokens: () => withWords('management', import('./management/TokensPage')),
  whatsNew: () => import('./news/WhatsNewPage'),
};

// At once: the page is fetched beside the session and the words.
const router = createBrowserRouter([
  { path: paths.signIn, lazy: () => import('./session/SignInPage'), ErrorBoundary: Crash, HydrateFallback: () => null },
  {
    Component: Frame,
    ErrorBoundary: Crash, // of the frame itself
    HydrateFallback: FrameBones,
    children: [
      {
        ErrorBoundary: Crash, // inside the frame, so that the navigation lives
        children: [
          ...Object.entries(pages).map(([name, lazy]) => ({ path: paths[name as keyof typeof pages], lazy })),
          { path: '*', Component: NotFound },
        ],
      },
    ],
  },
]);

/** Starts the console. */
export const start = (): Promise<void> => startSite('console', <RouterProvider router={router} />);
