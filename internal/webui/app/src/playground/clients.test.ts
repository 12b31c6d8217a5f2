import { spawnSync } from 'node:child_process';
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
    expect(clientsOf(path), path).toEqual(sdk ? [sdk, 'baseUrl'] : ['baseUrl']);
  }
});

test('the base URL names the capability and what the SDK does not add by itself', () => {
  expect(written('openai', '/v1/chat/completions')).toContain('baseURL: "https://gate.example/via/gpt-5/v1"');
  expect(written('openai', '/api/v3/chat/completions')).toContain('baseURL: "https://gate.example/via/gpt-5/api/v3"');
  expect(written('anthropic', '/v1/messages')).toContain('baseURL: "https://gate.example/via/gpt-5"');
  expect(written('anthropic', '/claude/v1/messages')).toContain('baseURL: "https://gate.example/via/gpt-5/claude"');
  expect(written('google', '/v1beta/models/gemini:generateContent')).toContain('{ baseUrl: "https://gate.example/via/gpt-5" }');
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
