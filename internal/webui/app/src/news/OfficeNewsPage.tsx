import { WhatsNew } from './WhatsNew';

/** What is new, for administrators. */
export const Component = () => <WhatsNew office />;
