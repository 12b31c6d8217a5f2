import { Alerts } from './Alerts';

/** The own alerts that watch one application. */
export default function ApplicationAlerts({ id }: { id: string }) {
  return <Alerts site="own" applicationId={id} />;
}
