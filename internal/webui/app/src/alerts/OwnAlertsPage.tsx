import { Alerts } from './Alerts';

/** What an owner wants to be told of. */
export const Component = () => <Alerts site="own" />;
