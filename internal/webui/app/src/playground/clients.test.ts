import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { clientSample, clientsOf, type ClientSample } from './clients';

const written = (client: ClientSample, path: string, body = '{"model":"m","input":true}', id = 'gpt-5') =>
  clientSample(client, 'https://gate.example/', id, { path, body });

test('the SDK that is shown is the one whose interface the path has', () => {
  for (const [path, sdk] of [
    ['/v1/chat/completions', 'openai'],
    ['v1/responses/', 'openai'],
    ['/api/v3/embeddings?x=1', 'openai'],
    ['/v1/models', 'openai'],
    ['/v1/messages', 'anthropic'],
    ['/claude/v1/messages?beta=true', 'anthropic'],
    ['/v1beta/models/gemini:generateContent', 'google'],
    ['/v1/models/gemini:streamGenerateContent?alt=sse', 'google'],
    ['/messages', null],
    ['/v2/chat', null],
    ['', null],
    ['/v1beta/models/gemini:embedContent', null],
  ] as const) {
    const all = clientsOf(path);
    expect([all[0], all.at(-1)], path).toEqual([sdk ?? 'baseUrl', 'baseUrl']);
  }
  expect(clientsOf('/v1/chat/completions')).toEqual(['openai', 'openaiPython', 'aiSdk', 'langchain', 'codex', 'opencode', 'baseUrl']);
  expect(clientsOf('/v1/messages')).toEqual(['anthropic', 'aiSdk', 'langchain', 'claudeCode', 'baseUrl']);
  expect(clientsOf('/v1/models/g:generateContent')).toEqual(['google', 'aiSdk', 'langchain', 'geminiCli', 'baseUrl']);
  expect(clientsOf('/v1/embeddings')).toEqual(['openai', 'baseUrl']); // nobody talks there
});

/** What README has for each of the programs that Try it names. */
const demo = (client: ClientSample, capability: string, path: string, body = '') =>
  clientSample(client, 'http://127.0.0.1:8080', capability, { path, body });
const chat = '{"model": "demo", "messages": [{"role": "user", "content": "Hello"}]}';

test('README has the lines that Try it has, for every tool', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../../../../../README.md'), 'utf8');
  for (const [client, capability, path, body] of [
    ['openaiPython', 'demo-chat', '/v1/chat/completions', chat],
    ['openai', 'demo-chat', '/v1/chat/completions', chat],
    ['anthropic', 'demo-claude', '/v1/messages', chat.replace('{', '{"max_tokens": 256, ')],
    ['aiSdk', 'demo-chat', '/v1/chat/completions', chat],
    ['langchain', 'demo-chat', '/v1/chat/completions', chat],
    ['google', 'demo-gemini', '/v1beta/models/demo:generateContent', '{"contents": "Hello"}'],
    ['codex', 'demo-chat', '/v1/responses', chat],
    ['claudeCode', 'demo-claude', '/v1/messages', chat],
    ['geminiCli', 'demo-gemini', '/v1beta/models/demo:generateContent', ''],
    ['opencode', 'demo-chat', '/v1/responses', chat],
  ] as const)
    expect(readme, client).toContain(demo(client, capability, path, body));
});

test('what a shell is to run is one command with its words as they are meant', () => {
  const env = { CALLGATE_KEY: 'k', PATH: process.env['PATH'] };
  const run = (client: ClientSample, path: string, program: string) =>
    spawnSync(
      'sh',
      [
        '-c',
        `${program}() { env | grep -E '^(CODEX|OPENAI|ANTHROPIC|GEMINI|GOOGLE|OPENCODE)_' | sort; printf '<%s>' "$@"; }\n${demo(client, "it's", path, '{"model":"m 1"}')}`,
      ],
      {
        encoding: 'utf8',
        env,
      },
    ).stdout;
  expect(run('codex', '/v1/responses', 'codex')).toBe(
    `CODEX_API_KEY=k\n<exec><-c><openai_base_url="http://127.0.0.1:8080/via/it's/v1"><-c><model="m 1"><Hello>`,
  );
  expect(run('claudeCode', '/v1/messages', 'claude')).toBe(
    `ANTHROPIC_API_KEY=k\nANTHROPIC_BASE_URL=http://127.0.0.1:8080/via/it's\n<--model><m 1>`,
  );
  expect(run('geminiCli', '/v1beta/models/g:generateContent', 'gemini')).toBe(
    `GEMINI_API_KEY=k\nGOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8080/via/it's\n<-m><g>`,
  );
  const [config] = /OPENCODE_CONFIG_CONTENT=(.*)/.exec(run('opencode', '/v1/responses', 'opencode'))!.slice(1);
  expect(JSON.parse(config!)).toEqual({
    provider: {
      openai: { options: { baseURL: "http://127.0.0.1:8080/via/it's/v1", apiKey: '{env:CALLGATE_KEY}' }, models: { 'm 1': {} } },
    },
    model: 'openai/m 1',
  });
});

test('Python compiles what it is given', () => {
  for (const body of ['', chat, '{"stream":true,"stop":null}']) {
    const { status, stderr } = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: demo('openaiPython', 'm', '/v1/chat/completions?a=b', body),
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
  }
});

test('the base URL names the capability and what the SDK does not add by itself', () => {
  expect(written('openai', '/v1/chat/completions')).toContain('baseURL: "https://gate.example/via/gpt-5/v1"');
  expect(written('openai', '/api/v3/chat/completions')).toContain('baseURL: "https://gate.example/via/gpt-5/api/v3"');
  expect(written('anthropic', '/v1/messages')).toContain('baseURL: "https://gate.example/via/gpt-5"');
  expect(written('anthropic', '/claude/v1/messages')).toContain('baseURL: "https://gate.example/via/gpt-5/claude"');
  expect(written('google', '/v1beta/models/gemini:generateContent')).toContain(
    '{ baseUrl: "https://gate.example/via/gpt-5", apiVersion: "v1beta" }',
  );
  expect(written('openai', '/v1/responses', '{}', 'a:b.c')).toContain('/via/a:b.c/v1');
});

test('samples of SDKs take the key from the environment, call what the path asks for and follow what is edited', () => {
  expect(written('openai', '/v1/embeddings')).toContain('const answer = await client.embeddings.create({"model":"m","input":true});');
  expect(written('openai', '/v1/chat/completions', '{"stream":true}')).toContain(
    'const stream = await client.chat.completions.create({"stream":true});',
  );
  expect(written('openai', '/v1/models', '')).toContain('await client.models.list()');
  expect(written('openai', '/v1/responses?a=b%20c')).toContain('defaultQuery: { "a": "b c" },');
  expect(written('anthropic', '/v1/messages?beta=true')).toContain('defaultQuery: { "beta": "true" },');
  const google = written(
    'google',
    '/v1beta/models/gemini:streamGenerateContent',
    '{"contents":[{"parts":[{"text":"Hi"}]}],"generationConfig":{"seed":1,"logprobs":true},"systemInstruction":{"parts":[]}}',
  );
  for (const part of [
    'generateContentStream({',
    'model: "gemini"',
    '"text": "Hi"',
    '"seed": 1',
    '"logprobs": true',
    '"systemInstruction": {',
  ])
    expect(google).toContain(part);
  expect(google).not.toContain('generationConfig');
  for (const [client, path] of [
    ['openai', '/v1/chat/completions'],
    ['anthropic', '/v1/messages'],
    ['google', '/v1/models/g:generateContent'],
    ['baseUrl', '/v1/messages'],
    ['baseUrl', '/other'],
  ] as const)
    for (const body of ['', '{', '[]', '{"contents":1}']) expect(written(client, path, body)).toContain('CALLGATE_KEY');
});

test('a tool gets its two variables, as a shell reads them', () => {
  for (const [path, address, key, value] of [
    ['/v1/chat/completions', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'https://gate.example/via/gpt-5/v1'],
    ['/v1/messages', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY', 'https://gate.example/via/gpt-5'],
    ['/v1beta/models/g:generateContent', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_API_KEY', 'https://gate.example/via/gpt-5'],
    ['/other', 'BASE_URL', 'API_KEY', 'https://gate.example/via/gpt-5'],
    ["/it's/v1/messages", 'ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY', "https://gate.example/via/gpt-5/it's"],
  ] as const) {
    const { stdout } = spawnSync('sh', ['-c', `${written('baseUrl', path)}\nprintf '%s %s' "$${address}" "$${key}"`], {
      encoding: 'utf8',
      env: { CALLGATE_KEY: 'k' },
    });
    expect(stdout).toBe(`${value} k`);
  }
});
