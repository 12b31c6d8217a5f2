import type { Same } from '../same';
import type zh from '../zh/alerts';

const alerts: Same<typeof zh> = {
  title: 'Alerts',
  about: 'Tells you when an application gets out of hand: looked at every 10 s, told when the threshold is reached twice in a row, and once more when it is over. While the statistics are behind nothing changes.',
  aboutOffice: 'Tells administrators when a capability, an upstream or the platform gets out of hand: looked at every 10 s, told when the threshold is reached twice in a row, and once more when it is over. While the statistics are behind nothing changes.',
  empty: 'There are no alerts yet. Make one, and know of trouble before users do.',
  add: 'New alert', edit: 'Edit', save: 'Save', saved: 'Alert {{name}} was saved.', changed: 'Somebody else has changed this alert meanwhile; this is what it is now.',
  name: 'Name', kind: 'Watches', of: 'Of a', choose: 'Choose', thresholdOf: 'Threshold ({{unit}})', thresholdHint: 'Fires when it is reached.', thresholdLeft: 'Fires when no more is left.',
  window: 'Window', minutes: '{{n}} min', minCalls: 'Least calls', minCallsHint: 'With fewer in the window it does not fire.', period: 'Period', currency: 'Currency', limit: 'Limit',
  periods: { day: 'each Beijing day', month: 'each Beijing month' },
  kinds: { failureRate: 'Failure rate', p95: 'p95 duration', noCalls: 'No calls', tokens: 'Tokens', cost: 'Cost (estimate)', limit: 'Use of a limit', keyExpiry: 'Key about to expire', statisticsBehind: 'Statistics behind', spoolStuck: 'Spool not reported', dayClosed: 'Each closed day' },
  targets: { application: 'Application', capability: 'Capability', upstream: 'Upstream', platform: 'Platform', account: 'All own applications' }, daysHint: 'What each Beijing day came to, once all of it is there; and when calls came late.', lastDay: 'Last told',
  units: { percent: '%', ms: 'ms', minutes: 'min', tokens: 'tokens', days: 'days', seconds: 's' },
  quantity: '{{n}} {{unit}}', atLeast: '≥ {{value}}', atMost: '≤ {{value}} left', within: 'within {{n}} min and {{calls}} calls or more', now: 'Now', since: 'since {{at}}',
  figures: { calls: '{{calls}} calls, {{failures}} failures', used: '{{used}} of {{limit}} used' },
  states: { firing: 'Firing', ok: 'OK', disabled: 'Disabled', silenced: 'Silenced until {{at}}' },
  unknown: { not_evaluated: 'Not looked at yet', statistics_behind: 'Statistics behind: kept as it was', store_unavailable: 'A store is away: kept as it was', no_data: 'No data: kept as it was' },
  undelivered: '{{n}} not delivered', deliveries: 'Deliveries', logOf: 'Deliveries of {{name}}', log: 'Deliveries: {{name}}', nothingSent: 'Nothing was sent yet. Send a test first.',
  test: 'Test', testOf: 'Test {{name}}', tested: 'A test is on its way; the deliveries tell what became of it.', editOf: 'Edit {{name}}', moreOf: 'More for {{name}}',
  silence: 'Silence for {{n}} h', unsilence: 'End the silence', enable: 'Enable', disable: 'Disable', delete: 'Delete', ask: 'Delete the alert {{name}}?', askText: 'Its deliveries go with it, those that wait too.', deleted: 'Alert {{name}} was deleted.',
  channels: 'Channels', channelsHint: 'At most 5. Once saved, only the host of a URL is shown.', channelKind: 'Kind of channel {{n}}', url: 'URL of channel {{n}}', keepUrl: '{{at}}, leave empty to keep', ownAddress: 'your own address', botSecret: 'Signing secret of channel {{n}}', botSecretHint: 'Signing secret, if any',
  remove: 'Remove', removeChannel: 'Remove channel {{n}}', addChannel: 'Add channel',
  channelKinds: { mail: 'Mail', webhook: 'Webhook (signed)', feishu: 'Feishu', dingtalk: 'DingTalk', wecom: 'WeCom', slack: 'Slack' },
  events: { firing: 'Firing', resolved: 'Resolved', test: 'Test', closed: 'Day closed', reopened: 'Day reopened' }, numbered: '{{event}}, change {{n}}', deliveryStatus: { delivered: 'Delivered', pending: 'Waiting', given_up: 'Given up' },
  attempts: '{{n}} attempts', next: 'next {{at}}', resend: 'Send again', resent: 'It is sent again at once.',
  errors: { address: 'not a public address', dns: 'host not found', connect: 'no connection', tls: 'TLS failed', timeout: 'no answer within 10 s', status: 'answered {{status}}', refused: 'refused by the bot', mail: 'not taken by the mail server', channel: 'channel removed', settings: 'channel cannot be read' },
  show: 'Show', hide: 'Hide', rotate: 'Rotate', rotated: 'The secret was rotated; the former one signs too for 24 h.', former: 'the former one signs too until {{at}}', showSecret: 'Show the secret of {{at}}', hideSecret: 'Hide the secret of {{at}}', copySecret: 'Copy the secret of {{at}}', rotateSecret: 'Rotate the secret of {{at}}',
};

export default alerts;
