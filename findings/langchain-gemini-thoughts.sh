#!/usr/bin/env bash
# @langchain/google-genai 2.3.2 with @langchain/core 1.4.0 (npm), Node 20.
#
# Gemini has its thoughts beside what it wrote (thoughtsTokenCount), and charges for them as output; what its tools brought stands
# beside the prompt (toolUsePromptTokenCount). All of them are in its total.
# Expected: usage_metadata whose input and output make its total, as LangChain's own types say: 270 + 46 = 316.
# Seen: 264 + 14, and a total of 316. Neither thoughts nor what tools brought are anywhere else in it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/google-genai@2.3.2 @langchain/core@1.4.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 264, toolUsePromptTokenCount: 6, candidatesTokenCount: 14, thoughtsTokenCount: 32, totalTokenCount: 316 },
    modelVersion: 'gemini-3-flash',
  }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const model = new ChatGoogleGenerativeAI({ model: 'gemini-3-flash', apiKey: 'k', baseUrl: `http://127.0.0.1:${server.address().port}` });
const { usage_metadata: usage } = await model.invoke('Hello');
console.log(JSON.stringify(usage));
const changed = usage.input_tokens !== 264 || usage.output_tokens !== 14 || usage.total_tokens !== 316 || usage.output_token_details?.reasoning !== undefined;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
