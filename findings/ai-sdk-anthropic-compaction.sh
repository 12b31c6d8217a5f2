#!/usr/bin/env bash
# ai 7.0.173 with @ai-sdk/anthropic 4.0.105 (npm), Node 20.
#
# Anthropic compacts a long conversation while it answers. The top level of usage leaves that out; usage.iterations tells of it,
# with what it read from the cache (the types of @anthropic-ai/sdk 1.14.0: "A compaction entry's tokens are not included in the
# top-level usage fields").
# Expected: an input of what both the compaction and the message read, cached or not: 2100 + 151000 + 640 = 153740.
# Seen: 2740, and 0 of it cached. The iterations' input_tokens are added up, their cache_read_input_tokens and
# cache_creation_input_tokens are not. So 98 % of what was read is missing where a compaction finds its prompt in the cache.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ai@7.0.173 @ai-sdk/anthropic@4.0.105
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText } from 'ai';

const none = { cache_creation_input_tokens: 0, cache_creation: null };
const message = { input_tokens: 640, output_tokens: 1210, cache_read_input_tokens: 0, ...none };
const compaction = { type: 'compaction', input_tokens: 2100, output_tokens: 705, cache_read_input_tokens: 151000, ...none };
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({
    id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-5', stop_reason: 'end_turn', stop_sequence: null,
    content: [{ type: 'compaction', content: 'They greeted each other.', encrypted_content: null }, { type: 'text', text: 'Hello.' }],
    usage: { ...message, iterations: [compaction, { type: 'message', model: 'claude-sonnet-5', ...message }] },
  }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const anthropic = createAnthropic({ baseURL: `http://127.0.0.1:${server.address().port}`, apiKey: 'k' });
const { usage } = await generateText({ model: anthropic('claude-sonnet-5'), maxOutputTokens: 9, prompt: 'Hello' });
console.log(`input ${usage.inputTokens} of 153740, from the cache ${usage.inputTokenDetails.cacheReadTokens} of 151000, output ${usage.outputTokens} of 1915`);
const changed = usage.inputTokens !== 2740 || usage.inputTokenDetails.cacheReadTokens !== 0 || usage.outputTokens !== 1915;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
