import { exact, member, written, type Exact } from '../json/exact';

/** What a try sends, as it stands in the editor. */
export interface Draft {
  /** What stands after /gateway. */
  path: string;
  /** JSON, or nothing for a GET. */
  body: string;
  /** Of a request that is sent again; else the body decides. */
  method?: string;
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
const ends = (path: string, end: string): boolean => (path.split('?')[0] ?? '').replace(/\/+$/, '').endsWith(end);

/** The parts of a path of Google's generateContent; null for any other. */
export function google(path: string): { before: string; model: string } | null {
  const [, before, model] =
    /^(.*)\/v1(?:beta|alpha)?\/models\/([^/:]+):(?:generateContent|streamGenerateContent)$/.exec(
      (path.split('?')[0] ?? '').replace(/\/+$/, ''),
    ) ?? [];
  return before === undefined || model === undefined ? null : { before, model };
}

/** Without it, a stream of OpenAI's chat says nothing of the tokens that it used. */
const USAGE = { include_usage: true };

/** The smallest request that the interface behind the path answers, with the upstream's model. */
export function firstDraft(defaultPath: string, upstreamModel: string, hello: string): Draft {
  const path = defaultPath || '/v1/chat/completions';
  const model = upstreamModel || 'model';
  const messages = [{ role: 'user', content: hello }];
  if (google(path)) return { path, body: pretty({ contents: [{ role: 'user', parts: [{ text: hello }] }] }) };
  if (ends(path, '/models')) return { path, body: '' };
  if (ends(path, '/embeddings') || ends(path, '/moderations') || ends(path, '/responses'))
    return { path, body: pretty({ model, input: hello }) };
  if (ends(path, '/messages')) return { path, body: pretty({ model, max_tokens: 256, messages, stream: true }) };
  if (ends(path, '/chat/completions')) return { path, body: pretty({ model, messages, stream: true, stream_options: USAGE }) };
  if (ends(path, '/completions') || ends(path, '/images/generations')) return { path, body: pretty({ model, prompt: hello }) };
  return { path, body: pretty({ model, messages }) };
}

/** The body as JSON; undefined when it is none. An empty one is null. */
export function parsed(body: string): unknown {
  if (body.trim() === '') return null;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the body asks for a stream; null when it is no object that could. */
export function streams(body: string): boolean | null {
  const value = parsed(body);
  return isObject(value) ? value['stream'] === true : null;
}

/** The body with `stream` set or taken out, and with it what may only stand beside it. */
export function withStream({ path, body }: Draft, on: boolean): string {
  if (streams(body) === null) return body;
  const { members } = exact(body) as { members: [string, Exact][] }; // it is an object, and its numbers stay
  const rest = members.filter(([name]) => name !== 'stream' && (on || name !== 'stream_options'));
  if (!on) return written({ members: rest }, 2);
  const usage: [string, Exact][] =
    ends(path, '/chat/completions') && member(exact(body), 'stream_options') === undefined
      ? [['stream_options', exact(JSON.stringify(USAGE))]]
      : [];
  return written({ members: [...rest, ['stream', 'true'], ...usage] }, 2);
}

/** The gateway's address for a call. */
export function target(base: string, path: string, capabilityId: string): string {
  const slashed = path === '' || path.startsWith('/') ? path : `/${path}`;
  const [before, query] = slashed.split(/\?(.*)/s);
  return `${base.replace(/\/+$/, '')}/gateway${before}?${query ? `${query}&` : ''}model=${encodeURIComponent(capabilityId)}`;
}

/** The headers beside the credential. Anthropic's interface refuses calls without its version. */
export function headersOf({ path, body }: Draft): Record<string, string> {
  return {
    ...(body.trim() === '' ? {} : { 'Content-Type': 'application/json' }),
    ...(ends(path, '/messages') ? { 'anthropic-version': '2023-06-01' } : {}),
  };
}

export const methodOf = ({ body, method }: Draft): string => method ?? (body.trim() === '' ? 'GET' : 'POST');
