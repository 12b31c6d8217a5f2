import { expect, test } from 'vitest';
import { firstDraft, headersOf, methodOf, parsed, streams, target, withStream } from './request';

test('the first request fits the interface behind the default path', () => {
  const body = (path: string) => parsed(firstDraft(path, 'm', 'Hi').body);
  expect(body('/v1/chat/completions')).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(body('/v1/messages')).toEqual({ model: 'm', max_tokens: 256, messages: [{ role: 'user', content: 'Hi' }], stream: true });
  expect(body('/v1/embeddings/')).toEqual({ model: 'm', input: 'Hi' });
  expect(body('/v1/responses')).toEqual({ model: 'm', input: 'Hi' });
  expect(body('/v1/completions')).toEqual({ model: 'm', prompt: 'Hi' });
  expect(body('/v1/models')).toBeNull();
  expect(body('/v1beta/models/gemini-pro:streamGenerateContent?alt=sse')).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  });
  expect(firstDraft('', '', 'Hi')).toMatchObject({
    path: '/v1/chat/completions',
    body: expect.stringContaining('"model": "model"') as string,
  });
});

test('the capability is named once in the query, whatever the path has', () => {
  expect(target('https://x.example/', '/v1/chat', 'a:b')).toBe('https://x.example/gateway/v1/chat?model=a%3Ab');
  expect(target('https://x.example', 'v1?beta=1&x=?', 'a')).toBe('https://x.example/gateway/v1?beta=1&x=?&model=a');
  expect(target('https://x.example', '', 'a')).toBe('https://x.example/gateway?model=a');
});

test('stream is read from the body and written into it', () => {
  expect(streams('{"stream":true}')).toBe(true);
  expect(streams('{"stream":1}')).toBe(false);
  for (const none of ['', '[]', '{', '1']) expect(streams(none), none).toBeNull();
  const changed = (body: string, on: boolean, path = '/v1/messages') => withStream({ path, body }, on);
  expect(changed('{"a":1,"stream":true}', false)).toBe('{\n  "a": 1\n}');
  expect(JSON.parse(changed('{"a":1}', true))).toEqual({ a: 1, stream: true });
  expect(changed('{"id":9007199254740993,"stream":true}', false)).toBe('{\n  "id": 9007199254740993\n}');
  expect(changed('{', true)).toBe('{');
});

test('a stream of chat completions is asked for what it used, which only a stream may be', () => {
  const path = '/v1/chat/completions';
  const on = withStream({ path, body: '{"a":1}' }, true);
  expect(JSON.parse(on)).toEqual({ a: 1, stream: true, stream_options: { include_usage: true } });
  expect(JSON.parse(withStream({ path, body: on }, false))).toEqual({ a: 1 });
  expect(JSON.parse(withStream({ path, body: '{"stream_options":{"include_usage":false}}' }, true))).toEqual({
    stream: true,
    stream_options: { include_usage: false },
  });
});

test('without a body it is a GET, and messages carry their version', () => {
  expect(methodOf({ path: '/v1/models', body: ' ' })).toBe('GET');
  expect(headersOf({ path: '/v1/models', body: '' })).toEqual({});
  expect(headersOf({ path: '/v1/messages?beta=true', body: '{}' })).toEqual({
    'Content-Type': 'application/json',
    'anthropic-version': '2023-06-01',
  });
});
