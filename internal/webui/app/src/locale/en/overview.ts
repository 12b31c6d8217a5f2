import type { Same } from '../same';
import type zh from '../zh/overview';

const overview: Same<typeof zh> = {
  title: 'Overview',
  apps: 'Applications',
  appsEnabled: '{{n}} enabled',
  complete: 'Complete through {{time}}',
  late: 'The figures are behind: calls that ended later are not in them yet.',
  since: 'Collected since {{time}}',
  kept: 'Kept from {{day}} on',
  unrecorded: 'Nothing was recorded in this range: records begin on {{day}}.',
  missed: '{{n}} missed',
  missedWhy: 'Calls may be missed while writing fails, so the figures are no basis for billing.',
  basis: 'Compared with {{span}}, without today',
  capability: 'Capability',
  byCapability: 'By capability',
  daily: 'Daily trend',
  openDay: 'Click a day to see it alone',
  empty: {
    title: 'Three steps to the first figure',
    create: 'Create an application, choose its capabilities, get its Access Key.',
    call: 'Copy this curl, put your Access Key in, and call once.',
    watch: 'Within two seconds the call is counted here.',
    button: 'New application',
    noCapability: 'Your administrator offers no capability yet.',
    noCalls: 'There were no calls in this range. Copy this curl to make one; the page of an application has it filled in.',
    toApplications: 'Choose an application',
  },
};

export default overview;
