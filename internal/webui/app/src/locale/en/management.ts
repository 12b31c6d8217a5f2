import type { Same } from '../same';
import type zh from '../zh/management';

const management: Same<typeof zh> = {
  about:
    'With these your scripts and dashboards call the management and statistics API, in Authorization: Bearer. A token can neither see, make nor revoke tokens or sessions; ending sessions leaves tokens alone.',
  create: 'New token',
  name: 'Name',
  nameHint: 'What it is for, such as the name of a script.',
  access: 'Access',
  accesses: { read: 'Read', full: 'Full' },
  may: {
    read: 'Reads applications, capabilities, budgets, alerts and statistics; changes nothing and sees no key.',
    full: 'Does all that you may do, showing and rotating keys included; but for tokens and sessions.',
  },
  lifetime: 'Expires in',
  days: '{{n}} days',
  endsAt: 'On {{time}}',
  submit: 'Create',
  madeTitle: 'Token {{name}}',
  once: 'The token is shown this once. Copy it now and keep it safe; only a hash of it is stored.',
  token: 'Token',
  copy: 'Copy token',
  try: 'Try it',
  placeholder: 'The command takes the token from CALLGATE_TOKEN and answers with the last 7 days of your applications.',
  withToken: 'Copy with the token',
  done: 'Done',
  created: 'Created',
  lastUsed: 'Last used',
  lastUsedHint: 'To a minute.',
  unused: 'Never',
  expires: 'Expires',
  expired: 'Expired',
  soon: 'Soon',
  action: 'Action',
  rows: 'Management tokens',
  none: 'There are no tokens yet.',
  revoke: 'Revoke',
  revokeOf: 'Revoke {{name}}',
  ask: 'Revoke {{name}}?',
  askText: 'It takes effect at once: the next request of a program that uses it is refused. This cannot be undone.',
  revoked: 'The token {{name}} is revoked.',
};

export default management;
