import { api, unwrap } from '../api/client';
import { Joiner } from './deltas';
import { headersOf, methodOf, target, type Draft } from './request';

/** How a try stands: `redirect` is an answer that the page may not follow. */
export interface Attempt {
  state: 'waiting' | 'open' | 'complete' | 'cut' | 'stopped' | 'redirect' | 'unreached';
  status: number | null;
  headers: [string, string][];
  callId: string | null;
  /** Code of an answer of the gateway's own; null: it comes from the upstream. */
  ours: string | null;
  /** Milliseconds until the answer began, and until it ended. */
  firstByteMs: number | null;
  totalMs: number | null;
  /** The body as it came, MOST characters of it at most. */
  raw: string;
  /** More came than is kept. */
  long: boolean;
  /** Text of the deltas, for a stream. */
  joined: string;
}

/** Characters of an answer that are kept. */
export const MOST = 200_000;

const begun: Attempt = {
  state: 'waiting',
  status: null,
  headers: [],
  callId: null,
  ours: null,
  firstByteMs: null,
  totalMs: null,
  raw: '',
  long: false,
  joined: '',
};

/**
 * Calls the gateway of this origin as a program would. The Access Key is fetched for this one
 * request and stands nowhere but in it. Throws what reading the key throws.
 */
export async function send(
  applicationId: string,
  capabilityId: string,
  draft: Draft,
  signal: AbortSignal,
  onProgress: (attempt: Attempt) => void,
): Promise<void> {
  let now = begun;
  const tell = (change: Partial<Attempt>) => onProgress((now = { ...now, ...change }));
  tell({});
  const { accessKey } = await unwrap(
    api.GET('/api/applications/{id}/access-key', { params: { path: { id: applicationId } }, signal, cache: 'no-store' }),
  );
  const start = performance.now();
  const passed = () => performance.now() - start;
  const ended = (state: Attempt['state']) => tell({ state, totalMs: passed() });
  let response: Response;
  try {
    response = await fetch(target(location.origin, draft.path, capabilityId), {
      method: methodOf(draft),
      headers: { ...headersOf(draft), Authorization: `Bearer ${accessKey}` },
      ...(draft.body.trim() === '' || /^(GET|HEAD)$/.test(methodOf(draft)) ? {} : { body: draft.body }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'manual',
      referrerPolicy: 'no-referrer',
      signal,
    });
  } catch {
    return ended(signal.aborted ? 'stopped' : 'unreached');
  }
  if (response.type === 'opaqueredirect') return ended('redirect');
  tell({
    state: 'open',
    status: response.status,
    headers: [...response.headers],
    callId: response.headers.get('X-Call-Id'),
    ours: response.headers.get('X-Callgate-Error'),
    firstByteMs: passed(),
  });
  try {
    await read(response, (raw, joined) =>
      tell(
        now.raw.length + raw.length > MOST ? { raw: (now.raw + raw).slice(0, MOST), long: true, joined } : { raw: now.raw + raw, joined },
      ),
    );
    ended('complete');
  } catch {
    ended(signal.aborted ? 'stopped' : 'cut');
  }
}

async function read(response: Response, onChunk: (raw: string, joined: string) => void): Promise<void> {
  if (!response.body) return;
  const joiner = response.headers.get('Content-Type')?.startsWith('text/event-stream') ? new Joiner() : null;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    const text = decoder.decode(value, { stream: !done });
    joiner?.push(text);
    if (done) joiner?.end();
    onChunk(text, joiner?.text.slice(0, MOST) ?? '');
    if (done) return;
  }
}
