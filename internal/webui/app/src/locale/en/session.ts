import type { Same } from '../same';
import type zh from '../zh/session';

const session: Same<typeof zh> = {
  about: 'One Access Key per application for every model API, with exact statistics of every call.',
  title: 'Sign in',
  office: 'Back office',
  email: 'E-mail',
  emailBad: 'Enter a valid e-mail address.',
  send: 'Send code',
  sent: 'If {{email}} may sign in, a code is on its way.',
  code: '6-digit code',
  digit: 'Digit {{n}}',
  resend: 'Resend',
  resendIn: 'Resend ({{seconds}} s)',
  change: 'Change e-mail',
  wrong: 'The code is wrong or has expired.',
  company: 'Sign in with {{name}}',
  companyFailed: 'The company sign-in did not succeed. Please try again.',
  companyTab: 'It opens in another tab; this page goes on as soon as you are signed in there.',
  or: 'or',
  expired: 'Your sign-in has expired. Sign in again; what you entered is still here.',
  why: {
    ended: 'Your session has ended. Please sign in again.',
    otherTab: 'You signed out in another tab.',
    next: 'Please sign in; the page you asked for opens then.',
  },
  starting: 'Signing in',
  sessions: {
    about: 'Browsers and programs in which you signed in and did not sign out. End one that you do not know; applications and keys go on.',
    agent: 'Browser and system',
    created: 'Signed in',
    lastUsed: 'Last used',
    lastUsedHint: 'To a minute.',
    action: 'Action',
    on: '{{browser}} on {{system}}',
    untold: 'Unknown program',
    current: 'This browser',
    only: 'You are signed in nowhere else.',
    end: 'End',
    endOf: 'End: {{what}}, signed in {{at}}',
    endOthers: 'End all others',
    ask: 'End this session?',
    askText: '{{what}}, signed in {{at}}. It ends at once and has to sign in again; applications and keys go on.',
    askOthers: 'End all other sessions?',
    askOthersText:
      'Other sessions: {{n}}. They end at once and have to sign in again; this browser stays signed in, applications and keys go on.',
    ended: 'The session has ended.',
    endedOthers: 'All other sessions have ended.',
  },
};

export default session;
