import { expect, test } from 'vitest';
import { answerText, errorIn, Joiner } from './deltas';

const events = (...data: unknown[]) => data.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
const joined = (text: string, size: number) => {
  const joiner = new Joiner();
  for (let at = 0; at < text.length; at += size) joiner.push(text.slice(at, at + size));
  joiner.end();
  return joiner.text;
};

test('deltas of either provider join to the text, however the stream is cut into chunks', () => {
  const openAI = events(
    { choices: [{ index: 0, delta: { role: 'assistant' } }] },
    { choices: [{ index: 0, delta: { content: '你好, ' } }] },
    { choices: [{ index: 1, delta: { content: 'other' } }] },
    { choices: [{ index: 0, delta: { content: 'world' } }] },
    { choices: [], usage: {} },
    '[DONE]',
  );
  const anthropic =
    'event: message_start\ndata: {"type":"message_start"}\n\n' +
    events(
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'lo' } },
    ).replaceAll('\n', '\r\n');
  const responses = events({ type: 'response.output_text.delta', delta: 'a' }, { type: 'response.output_text.done', text: 'a' });
  const google = events(
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'l' }, { text: 'o' }] }, finishReason: 'STOP' }] },
    { usageMetadata: {} },
  );
  for (let size = 1; size < 40; size++) {
    expect(joined(google, size)).toBe('Hello');
    expect(joined(openAI, size), `in pieces of ${size}`).toBe('你好, world');
    expect(joined(anthropic, size), `in pieces of ${size}`).toBe('Hello');
    expect(joined(responses, size)).toBe('a');
  }
});

test('events that are no deltas or no JSON add nothing', () => {
  expect(joined('data: {broken\n\ndata: 1\n\ndata: null\n\n: comment\n\ndata: {"choices":{}}\n\n', 7)).toBe('');
});

test('a stream that breaks off keeps its last whole event', () => {
  expect(joined('data: {"choices":[{"delta":{"content":"kept"}}]}', 5)).toBe('kept');
});

test('the text of a whole answer is found in every shape', () => {
  expect(answerText('{"choices":[{"message":{"content":"chat"}}]}')).toBe('chat');
  expect(answerText('{"choices":[{"text":"completion"}]}')).toBe('completion');
  expect(answerText('{"content":[{"type":"text","text":"claude"}]}')).toBe('claude');
  expect(answerText('{"output":[{"content":[{"type":"output_text","text":"response"}]}]}')).toBe('response');
  expect(answerText('{"candidates":[{"content":{"parts":[{"text":"gem"},{"text":"ini"}]}}]}')).toBe('gemini');
  for (const other of ['', 'text', 'null', '[1]', '{"candidates":[]}', '{"data":[{"embedding":[0.1]}]}'])
    expect(answerText(other), other).toBe('');
});

test('an error is read from its body, and nothing else is taken for one', () => {
  expect(errorIn('{"error":{"code":"application_disabled","message":"The application is disabled."}}')).toEqual({
    code: 'application_disabled',
    message: 'The application is disabled.',
  });
  expect(errorIn('{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}')).toEqual({ code: '', message: 'No.' });
  expect(errorIn('{"error":"No."}')).toEqual({ code: '', message: 'No.' });
  for (const other of ['', 'text', '{}', '{"error":{}}', '{"error":""}', 'null']) expect(errorIn(other), other).toBeNull();
});
