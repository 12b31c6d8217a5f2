import { WhatsNew } from './WhatsNew';

/** What is new, for owners. */
export const Component = () => <WhatsNew />;
