import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createBrowserRouter, Outlet, RouterProvider } from 'react-router';
import { Guard } from './session/Guard';
import { FindButton, Finder, type Opened } from './find/Finder';
import { FrameBones } from './ui/Block';
import { Crash, NotFound } from './ui/Failures';
import { Shell, type Place } from './ui/Shell';

function Frame() {
  const { t } = useTranslation();
  const [open, setOpen] = useState<Opened>(null);
  const places: Place[] = [
    { to: '/', label: t('nav.overview'), icon: 'overview', ranged: true },
    { to: '/applications', label: t('nav.applications'), icon: 'applications', ranged: true },
    { to: '/capabilities', label: t('nav.capabilities'), icon: 'capabilities' },
    { to: '/alerts', label: t('nav.alerts'), icon: 'alerts' },
  ];
  return (
    <Guard signIn="/sign-in">
      <Shell places={places} home="/" find={<FindButton onOpen={() => setOpen('palette')} />} account={[{ key: 'keys', label: t('keys.title'), onSelect: () => setOpen('shortcuts') }]}><Outlet /></Shell>
      <Finder open={open} onOpen={setOpen} />
    </Guard>
  );
}

const routes = () => [
  { path: '/sign-in', lazy: () => import('./session/SignInPage'), ErrorBoundary: Crash, HydrateFallback: () => null },
  {
    Component: Frame,
    ErrorBoundary: Crash, // of the frame itself
    HydrateFallback: FrameBones,
    children: [
      {
        ErrorBoundary: Crash, // inside the frame, so that the navigation lives
        children: [
          { path: '/', lazy: () => import('./overview/OverviewPage') },
          { path: '/capabilities', lazy: () => import('./capabilities/CapabilitiesPage') },
          { path: '/capabilities/:id', lazy: () => import('./capabilities/CapabilityPage') },
          { path: '/applications', lazy: () => import('./applications/ApplicationsPage') },
          { path: '/applications/:id', lazy: () => import('./applications/ApplicationPage') },
          { path: '/applications/:id/calls/:callId?', lazy: () => import('./calls/CallsPage') },
          { path: '/calls/:callId', lazy: () => import('./calls/CallPage') },
          { path: '/alerts', lazy: () => import('./alerts/OwnAlertsPage') },
          { path: '*', Component: NotFound },
        ],
      },
    ],
  },
];

/** The console. */
export function App() {
  const [router] = useState(() => createBrowserRouter(routes()));
  return <RouterProvider router={router} />;
}
