import type { Same } from '../same';
import type zh from '../zh/admin';

const admin: Same<typeof zh> = {
  band: 'Back office',
  nav: { groups: 'Groups', capabilities: 'Capabilities', audit: 'Audit' },
};

export default admin;
