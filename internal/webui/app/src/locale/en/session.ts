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
};

export default session;
