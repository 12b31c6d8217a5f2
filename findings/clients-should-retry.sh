#!/usr/bin/env bash
# openai 7.59.0, @anthropic-ai/sdk 1.14.0, groq-sdk 1.6.0, ai 7.0.173 with @ai-sdk/openai 4.0.118, cohere-ai 8.1.0 (npm), Node 20.
#
# A server refuses with 429 and the header x-should-retry: false, which OpenAI's and Anthropic's clients document: a quota of
# the day is used up, and asking again a second later helps nobody.
# Expected: one request of each client, as the header is the only way to say so that there is.
# Seen: openai, anthropic and groq ask once. The AI SDK and Cohere's client do not look at it and ask three times; they do wait
# for Retry-After. So a gateway that wants each refusal once has to count on being asked again, and to make it cheap.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0 @anthropic-ai/sdk@1.14.0 groq-sdk@1.6.0 ai@7.0.173 @ai-sdk/openai@4.0.118 cohere-ai@8.1.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import { CohereClientV2 } from 'cohere-ai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';

let requests = 0;
const server = createServer((request, response) => {
  requests++;
  request.resume();
  response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '1', 'x-should-retry': 'false' });
  response.end(JSON.stringify({ error: { message: 'Used up for today.', type: 'insufficient_quota', code: 'quota' } }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const at = `http://127.0.0.1:${server.address().port}`;
const messages = [{ role: 'user', content: 'Hello' }];
const clients = {
  openai: [1, () => new OpenAI({ baseURL: at, apiKey: 'k' }).chat.completions.create({ model: 'm', messages })],
  anthropic: [1, () => new Anthropic({ baseURL: at, apiKey: 'k' }).messages.create({ model: 'm', max_tokens: 9, messages })],
  groq: [1, () => new Groq({ baseURL: at, apiKey: 'k' }).chat.completions.create({ model: 'm', messages })],
  'AI SDK': [3, () => generateText({ model: createOpenAI({ baseURL: at, apiKey: 'k' }).chat('m'), prompt: 'Hello' })],
  cohere: [3, () => new CohereClientV2({ environment: at, token: 'k' }).chat({ model: 'm', messages })],
};
let changed = false;
for (const [name, [expected, ask]] of Object.entries(clients)) {
  requests = 0;
  await ask().catch(() => {});
  console.log(`${name}: ${requests} requests`);
  changed ||= requests !== expected;
}
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
