#!/usr/bin/env bash
# ai 7.0.173 with @ai-sdk/anthropic 4.0.105, and @anthropic-ai/sdk 1.14.0 (npm), Node 20.
#
# Anthropic's fallbacks: a model declines and another answers. A stream begins with the first one's name; a block of the type
# fallback tells which one goes on, and usage.iterations ends with a fallback_message of that model.
# Expected: the model that answered, as both clients say of the same answer where it is not streamed.
# Seen: Anthropic's client says claude-haiku-5 in either form. The AI SDK does so of the plain answer, and says claude-sonnet-5,
# the model that declined, of the streamed one; its figures are those of claude-haiku-5, so they are priced as another model's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ai@7.0.173 @ai-sdk/anthropic@4.0.105 @anthropic-ai/sdk@1.14.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, streamText } from 'ai';

const cache = { cache_read_input_tokens: 0, cache_creation_input_tokens: 0, cache_creation: null };
const usage = { input_tokens: 412, output_tokens: 264, ...cache, iterations: [
  { type: 'message', model: 'claude-sonnet-5', input_tokens: 408, output_tokens: 3, ...cache },
  { type: 'fallback_message', model: 'claude-haiku-5', input_tokens: 412, output_tokens: 264, ...cache },
] };
const fallback = { type: 'fallback', from: { model: 'claude-sonnet-5' }, to: { model: 'claude-haiku-5' }, trigger: { type: 'refusal', category: null } };
const message = { id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'end_turn', stop_sequence: null };
const plain = { ...message, model: 'claude-haiku-5', content: [fallback, { type: 'text', text: 'Hello.' }], usage };
const events = [
  { type: 'message_start', message: { ...message, stop_reason: null, model: 'claude-sonnet-5', content: [], usage: { input_tokens: 408, output_tokens: 1, ...cache } } },
  { type: 'content_block_start', index: 0, content_block: fallback },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const stream = JSON.parse(body).stream;
  response.writeHead(200, { 'Content-Type': stream ? 'text/event-stream' : 'application/json' });
  response.end(stream ? events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('') : JSON.stringify(plain));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const at = `http://127.0.0.1:${server.address().port}`;
const asked = { model: 'claude-sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] };
const client = new Anthropic({ baseURL: at, apiKey: 'k' }).beta.messages;
const sdk = { model: createAnthropic({ baseURL: at, apiKey: 'k' })('claude-sonnet-5'), maxOutputTokens: 9, prompt: 'Hello' };
const streamed = streamText(sdk);
const said = {
  'Anthropic, plain': (await client.create(asked)).model,
  'Anthropic, streamed': (await client.stream(asked).finalMessage()).model,
  'AI SDK, plain': (await generateText(sdk)).response.modelId,
  'AI SDK, streamed': (await streamed.response).modelId,
};
for (const [how, model] of Object.entries(said)) console.log(`${how}: ${model}`);
console.log(`AI SDK, streamed: ${(await streamed.usage).outputTokens} tokens written`);
const changed = Object.values(said).join() !== 'claude-haiku-5,claude-haiku-5,claude-haiku-5,claude-sonnet-5' || (await streamed.usage).outputTokens !== 264;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
