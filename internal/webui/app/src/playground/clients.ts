import { exact, member, written, type Exact } from '../json/exact';
import { google, parsed, streams, type Draft } from './request';
import { literal } from './samples';

/** Programs that know one provider's interface: its SDK, frameworks and agents that speak it, and any tool that takes a base URL. */
export type ClientSample = Provider | Tool | 'baseUrl';
type Provider = 'openai' | 'anthropic' | 'google';
export type Tool = 'openaiPython' | 'aiSdk' | 'langchain' | 'codex' | 'claudeCode' | 'geminiCli' | 'opencode';

const toolsOf: Record<Provider, Tool[]> = {
  openai: ['openaiPython', 'aiSdk', 'langchain', 'codex', 'opencode'],
  anthropic: ['aiSdk', 'langchain', 'claudeCode'],
  google: ['aiSdk', 'langchain', 'geminiCli'],
};

/** Which of them the path's interface has; a base URL can always be set. */
export function clientsOf(path: string): ClientSample[] {
  const found = fit(path);
  return found ? [found.sdk, ...(speaks(found) ? toolsOf[found.sdk] : []), 'baseUrl'] : ['baseUrl'];
}

/** Whether the path is one of those by which a conversation is had, as frameworks and agents do. */
const speaks = ({ sdk, call }: Fit): boolean => sdk !== 'openai' || call === 'chat.completions.create' || call === 'responses.create';

/** The same request by that program. The capability stands in the base URL; the key comes from CALLGATE_KEY. */
export function clientSample(client: ClientSample, base: string, capabilityId: string, draft: Draft): string {
  const root = `${base.replace(/\/+$/, '')}/via/${encodeURIComponent(capabilityId).replaceAll('%3A', ':')}`;
  const found = fit(draft.path);
  if (client === 'baseUrl' || !found) return variables(root, found);
  if (client in tools) return tools[client as Tool](found, `${root}${found.before}`, modelOf(found, draft), draft);
  return { openai, anthropic, google: genai }[found.sdk](`${root}${found.before}`, found, draft);
}

interface Fit {
  sdk: Provider;
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
    `  httpOptions: { baseUrl: ${quoted(address)}, apiVersion: ${quoted(/\/(v1\w*)\/models\//.exec(path)?.[1] ?? 'v1beta')} },`, // the SDK's own changes with its majors
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

/** The upstream's own name of the model, which the body has, or the path. */
function modelOf({ sdk, call }: Fit, { body }: Draft): string {
  if (sdk === 'google') return call;
  const value = parsed(body);
  const model = typeof value === 'object' && value !== null && 'model' in value ? value.model : null;
  return typeof model === 'string' ? model : 'model';
}

/** One program each, set up for the capability; a prompt stands for the rest. */
const tools: Record<Tool, (found: Fit, address: string, model: string, draft: Draft) => string> = {
  openaiPython: ({ call, query }, address, _model, { body }) =>
    [
      'import os',
      'from openai import OpenAI',
      '',
      'client = OpenAI(',
      `    base_url=${quoted(address)},`,
      '    api_key=os.environ["CALLGATE_KEY"],',
      ...(query === '' ? [] : [`    default_query=${literal(JSON.stringify(Object.fromEntries(new URLSearchParams(query))))},`]),
      ')',
      ...(streams(body) === true
        ? [`for event in client.${call}(**${literal(body.trim())}):`, '    print(event.model_dump_json())']
        : [`print(client.${call}(**${literal(body.trim() || '{}')}).model_dump_json(indent=2))`]),
    ].join('\n'),
  aiSdk: ({ sdk, call }, address, model) => {
    const [maker, from, option] = {
      openai: ['createOpenAI', '@ai-sdk/openai', address],
      anthropic: ['createAnthropic', '@ai-sdk/anthropic', `${address}/v1`],
      google: ['createGoogleGenerativeAI', '@ai-sdk/google', `${address}/v1beta`],
    }[sdk] as [string, string, string];
    return [
      'import { streamText } from "ai";',
      `import { ${maker} } from ${quoted(from)};`,
      '',
      `const provider = ${maker}({ baseURL: ${quoted(option)}, apiKey: process.env.CALLGATE_KEY });`,
      `const { textStream } = streamText({ model: provider${call === 'chat.completions.create' ? '.chat' : ''}(${quoted(model)}), prompt: "Hello" });`,
      'for await (const text of textStream) process.stdout.write(text);',
    ].join('\n');
  },
  langchain: ({ sdk, call }, address, model) => {
    const [name, from, options] = {
      openai: [
        'ChatOpenAI',
        '@langchain/openai',
        `${call === 'responses.create' ? 'useResponsesApi: true, ' : ''}configuration: { baseURL: ${quoted(address)} }`,
      ],
      anthropic: ['ChatAnthropic', '@langchain/anthropic', `anthropicApiUrl: ${quoted(address)}`],
      google: ['ChatGoogleGenerativeAI', '@langchain/google-genai', `baseUrl: ${quoted(address)}`],
    }[sdk] as [string, string, string];
    return [
      `import { ${name} } from ${quoted(from)};`,
      '',
      `const model = new ${name}({ model: ${quoted(model)}, apiKey: process.env.CALLGATE_KEY, ${options} });`,
      'console.log((await model.invoke("Hello")).text);',
    ].join('\n');
  },
  codex: (_found, address, model) =>
    [
      '# In the terminal program, which reads no key from the environment: printenv CALLGATE_KEY | codex login --with-api-key',
      `CODEX_API_KEY="$CALLGATE_KEY" codex exec -c ${shell(`openai_base_url=${quoted(address)}`)} -c ${shell(`model=${quoted(model)}`)} Hello`,
    ].join('\n'),
  claudeCode: (_found, address, model) =>
    `ANTHROPIC_BASE_URL=${shell(address)} ANTHROPIC_API_KEY="$CALLGATE_KEY" claude --model ${shell(model)}`,
  // Without this setting the base URL makes it ask for another kind of sign-in, which it refuses without a terminal.
  geminiCli: (_found, address, model) =>
    [
      '# ~/.gemini/settings.json: {"security":{"auth":{"selectedType":"gemini-api-key"}}}',
      `GOOGLE_GEMINI_BASE_URL=${shell(address)} GEMINI_API_KEY="$CALLGATE_KEY" gemini -m ${shell(model)}`,
    ].join('\n'),
  opencode: (_found, address, model) =>
    [
      `export OPENCODE_CONFIG_CONTENT=${shell(
        JSON.stringify({
          provider: { openai: { options: { baseURL: address, apiKey: '{env:CALLGATE_KEY}' }, models: { [model]: {} } } },
          model: `openai/${model}`,
        }),
      )}`,
      'opencode',
    ].join('\n'),
};
