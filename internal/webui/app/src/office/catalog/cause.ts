import type admin from '../../locale/zh/admin';

type Cause = keyof (typeof admin)['upstreams']['causes'];

/** What gateways say of an upstream that failed, as they write it (internal/gateway/cause.go). */
const causes: Record<string, Cause> = {
  'its address may not be called': 'address',
  'its name was not resolved': 'dns',
  'it speaks HTTP/2 only': 'http2',
  'its certificate is signed by an unknown authority': 'authority',
  'its certificate is for another name': 'name',
  'its certificate is not valid': 'certificate',
  'TLS failed': 'tls',
  'it took too long': 'timeout',
  'its response head was malformed': 'head',
  'it closed the connection before it answered': 'closed',
  'it closed the connection before its answer ended': 'broke',
  'it stopped sending': 'stopped',
  'it cannot be called': 'unreachable',
  'connection refused': 'refused',
  'connection reset by peer': 'reset',
};

/** The words of the page for what a gateway says, and the status that they name; null for what has none. */
export function causeOf(error: string): { cause: Cause; status: string } | null {
  const status = /^it answered (\d{3})$/.exec(error)?.[1];
  if (status !== undefined) return { cause: 'answered', status };
  const cause = causes[error];
  return cause === undefined ? null : { cause, status: '' };
}
