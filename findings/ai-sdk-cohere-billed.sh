#!/usr/bin/env bash
# ai 7.0.173 with @ai-sdk/cohere 4.0.52 (npm), Node 20.
#
# Cohere tells of a chat what the model processed, its own preamble included (usage.tokens), and what it charges for
# (usage.billed_units): 507 and 12 tokens of a recorded "Hello".
# Expected: an input of the 12 that are charged, or of both beside each other.
# Seen: 507. The other figure stands in usage.raw alone, so a cost that is made of inputTokens is forty times too high.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ai@7.0.173 @ai-sdk/cohere@4.0.52
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { createCohere } from '@ai-sdk/cohere';
import { generateText } from 'ai';

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({
    id: 'c', finish_reason: 'COMPLETE', message: { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
    usage: { billed_units: { input_tokens: 12, output_tokens: 7 }, tokens: { input_tokens: 507, output_tokens: 10 } },
  }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const cohere = createCohere({ baseURL: `http://127.0.0.1:${server.address().port}`, apiKey: 'k' });
const { usage: { raw, ...usage }, providerMetadata } = await generateText({ model: cohere('command-a'), prompt: 'Hello' });
const tells = JSON.stringify([usage, providerMetadata ?? null]).includes('12');
console.log(`input ${usage.inputTokens}, output ${usage.outputTokens}; charged, by usage.raw alone: ${JSON.stringify(raw.billed_units)}`);
const changed = usage.inputTokens !== 507 || usage.outputTokens !== 10 || tells || raw.billed_units.input_tokens !== 12;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
