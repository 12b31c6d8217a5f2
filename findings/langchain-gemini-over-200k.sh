#!/usr/bin/env bash
# @langchain/google-genai 2.3.2 with @langchain/core 1.4.0 (npm), Node 20.
#
# Prompts of gemini-3-pro-preview cost more from 200,000 tokens on; usage_metadata has over_200k and cache_read_over_200k for it.
# Expected: nothing of a prompt of 264 tokens, and 50,000 of one of 250,000.
# Seen: the whole prompt, whatever its length: 264, and 250,000. The source takes -200000 for a prompt whose count is missing
# instead of taking 200,000 off the count. So a cost by these details bills short prompts at the higher price.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/google-genai@2.3.2 @langchain/core@1.4.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';

let prompt;
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: 14, totalTokenCount: prompt + 14 },
    modelVersion: 'gemini-3-pro-preview',
  }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const model = new ChatGoogleGenerativeAI({ model: 'gemini-3-pro-preview', apiKey: 'k', baseUrl: `http://127.0.0.1:${server.address().port}` });
let changed = false;
for (prompt of [264, 250_000]) {
  const { usage_metadata: usage } = await model.invoke('Hello');
  console.log(`of ${prompt} tokens over 200,000: ${usage.input_token_details?.over_200k}`);
  changed ||= usage.input_token_details?.over_200k !== prompt;
}
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
