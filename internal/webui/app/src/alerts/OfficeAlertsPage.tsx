import { Alerts } from './Alerts';

/** What administrators want to be told of. */
export const Component = () => <Alerts site="office" />;
