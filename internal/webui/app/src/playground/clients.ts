import { exact, member, written, type Exact } from '../json/exact';
import { google, parsed, streams, type Draft } from './request';

/** Programs that know one provider's interface: its SDK, and any tool that takes a base URL. */
export type ClientSample = 'openai' | 'anthropic' | 'google' | 'baseUrl';

/** Which of them the path's interface has; a base URL can always be set. */
export function clientsOf(path: string): ClientSample[] {
  const found = fit(path);
  return found ? [found.sdk, 'baseUrl'] : ['baseUrl'];
}

/** The same request by that program. The capability stands in the base URL; the key comes from CALLGATE_KEY. */
export function clientSample(client: ClientSample, base: string, capabilityId: string, draft: Draft): string {
  const root = `${base.replace(/\/+$/, '')}/via/${encodeURIComponent(capabilityId).replaceAll('%3A', ':')}`;
  const found = fit(draft.path);
  if (client === 'baseUrl' || !found) return variables(root, found);
  return { openai, anthropic, google: genai }[found.sdk](`${root}${found.before}`, found, draft);
}

interface Fit {
  sdk: Exclude<ClientSample, 'baseUrl'>;
  /** What of the path belongs to the base URL. */
  before: string;
  /** How the SDK calls it; for Google's the model. */
  call: string;
  /** Without its question mark. */
  query: string;
}

const openaiCalls: Record<string, string> = {
  'chat/completions': 'chat.completions.create',
  responses: 'responses.create',
  embeddings: 'embeddings.create',
  completions: 'completions.create',
  moderations: 'moderations.create',
  'images/generations': 'images.generate',
  models: 'models.list',
};

function fit(given: string): Fit | null {
  const [slashed, query = ''] = (given.startsWith('/') ? given : `/${given}`).split(/\?(.*)/s);
  const path = (slashed ?? '').replace(/\/+$/, '');
  const asGoogle = google(path);
  if (asGoogle) return { sdk: 'google', before: asGoogle.before, call: asGoogle.model, query: '' };
  if (path.endsWith('/v1/messages'))
    return { sdk: 'anthropic', before: path.slice(0, -'/v1/messages'.length), call: 'messages.create', query };
  for (const [end, call] of Object.entries(openaiCalls))
    if (path.endsWith(`/${end}`)) return { sdk: 'openai', before: path.slice(0, -end.length - 1), call, query };
  return null;
}

const quoted = (text: string): string => JSON.stringify(text);
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What a program reads from its environment. */
function variables(root: string, found: Fit | null): string {
  const names = {
    openai: ['OPENAI_BASE_URL', 'OPENAI_API_KEY'],
    anthropic: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY'],
    google: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_API_KEY'],
  };
  const [address, key] = found ? names[found.sdk] : ['BASE_URL', 'API_KEY'];
  return [`export ${address}=${shell(`${root}${found?.before ?? ''}`)}`, `export ${key}="$CALLGATE_KEY"`].join('\n');
}

const queryOption = (query: string): string[] =>
  query === ''
    ? []
    : [`  defaultQuery: { ${[...new URLSearchParams(query)].map(([name, value]) => `${quoted(name)}: ${quoted(value)}`).join(', ')} },`];

/** A call with the body as it was typed; what comes is written out. */
function calling(call: string, { body }: Draft): string[] {
  const argument = body.trim();
  return streams(body) === true
    ? [`const stream = await client.${call}(${argument});`, 'for await (const event of stream) console.log(JSON.stringify(event));']
    : [`const answer = await client.${call}(${argument});`, 'console.log(JSON.stringify(answer, null, 2));'];
}

const sdk =
  (name: string, from: string) =>
  (address: string, { call, query }: Fit, draft: Draft): string =>
    [
      `import ${name} from ${quoted(from)};`,
      '',
      `const client = new ${name}({`,
      `  baseURL: ${quoted(address)},`,
      '  apiKey: process.env.CALLGATE_KEY,',
      ...queryOption(query),
      '});',
      ...calling(call, draft),
    ].join('\n');
const openai = sdk('OpenAI', 'openai');
const anthropic = sdk('Anthropic', '@anthropic-ai/sdk');

/** Google's SDK takes the contents by themselves and all the rest as one. */
function genai(address: string, { call }: Fit, { path, body }: Draft): string {
  const value: Exact = parsed(body) === undefined || body.trim() === '' ? { members: [] } : exact(body);
  const settings = member(value, 'generationConfig');
  const rest: [string, Exact][] =
    typeof value === 'object' && 'members' in value
      ? [
          ...(typeof settings === 'object' && 'members' in settings ? settings.members : []),
          ...value.members.filter(([name]) => name !== 'contents' && name !== 'generationConfig'),
        ]
      : [];
  const lines = [
    `  model: ${quoted(call)},`,
    `  contents: ${written(member(value, 'contents') ?? [], 2, 2)},`,
    ...(rest.length > 0 ? [`  config: ${written({ members: rest }, 2, 2)},`] : []),
  ];
  return [
    'import { GoogleGenAI } from "@google/genai";',
    '',
    'const client = new GoogleGenAI({',
    '  apiKey: process.env.CALLGATE_KEY,',
    `  httpOptions: { baseUrl: ${quoted(address)} },`,
    '});',
    ...(path.includes(':stream')
      ? [
          'const stream = await client.models.generateContentStream({',
          ...lines,
          '});',
          'for await (const piece of stream) process.stdout.write(piece.text ?? "");',
        ]
      : ['const response = await client.models.generateContent({', ...lines, '});', 'console.log(response.text);']),
  ].join('\n');
}
