import { expect, test } from 'vitest';
import { exact } from '../json/exact';
import { draftOf, gapsOf, replayPath } from './replay';

const request = { method: 'POST', path: '/v1/chat/completions' };
const none = exact('null');

test('path, query and body are those of the call; the capability is left to the page', () => {
  const body = exact('{"model":"m","seed":12345678901234567890}');
  expect(draftOf({ request, query: { model: 'gpt-5', 'api version': 'a&b' }, bodyNote: null }, body, '')).toEqual({
    method: 'POST',
    path: '/v1/chat/completions?api%20version=a%26b',
    body: '{\n  "model": "m",\n  "seed": 12345678901234567890\n}',
  });
});

test('a call without a body has none, one that was not kept has the example, and one without a request is none', () => {
  expect(draftOf({ request, query: null, bodyNote: 'empty' }, none, '{}')).toMatchObject({ body: '' });
  expect(draftOf({ request, query: null, bodyNote: 'too_large' }, none, '{"a":1}')).toMatchObject({ body: '{"a":1}' });
  expect(draftOf({ request: null, query: null, bodyNote: 'expired' }, none, '')).toBeNull();
});

test('every place that was redacted or cut is found, in query and body, until it is filled in', () => {
  const body = exact('{"api_key":"[REDACTED]","messages":[{"content":"long text…(+2048)"},"…"]}');
  const draft = draftOf({ request, query: { key: '[REDACTED]', q: 'x…(+3)' }, bodyNote: null }, body, '')!;
  expect(draft.path).toBe('/v1/chat/completions?key=[REDACTED]&q=x…(+3)');
  expect(
    gapsOf(draft).map(({ field, line, from, to }) => [field, line, (field === 'path' ? draft.path : draft.body).slice(from, to)]),
  ).toEqual([
    ['path', 1, '[REDACTED]'],
    ['path', 1, '…(+3)'],
    ['body', 2, '[REDACTED]'],
    ['body', 5, '…(+2048)'],
    ['body', 7, '"…"'],
  ]);
  expect(gapsOf({ path: '/v1/x', body: '{"a": "… and (+3)"}' })).toEqual([]);
});

test('the link names the capability, the application and the call', () => {
  expect(replayPath('app', { callId: 'c', model: 'a:b' })).toBe('/capabilities/a%3Ab?tab=try&app=app&replay=c');
});
