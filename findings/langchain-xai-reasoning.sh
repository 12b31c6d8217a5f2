#!/usr/bin/env bash
# @langchain/xai 1.4.15 with @langchain/core 1.4.0 (npm), Node 20.
#
# xAI's chat completions have reasoning beside completion_tokens: 12 read, 2 written and 320 thought make a total of 334 (recorded
# so in the AI SDK's tests). OpenAI, whose shape it is, has reasoning inside completion_tokens.
# Expected: an output of 322 in the client that is made for xAI, and reasoning that is part of it.
# Seen: an output of 2, of which 320 are reasoning, and a total of 334 that is not the sum of the two.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/xai@1.4.15 @langchain/core@1.4.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { ChatXAI } from '@langchain/xai';

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({
    id: 'x', object: 'chat.completion', created: 1770770846, model: 'grok-4', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 2, total_tokens: 334, completion_tokens_details: { reasoning_tokens: 320 } },
  }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const { usage_metadata: usage } = await new ChatXAI({ model: 'grok-4', apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}` }).invoke('Hello');
const { input_tokens: read, output_tokens: written, total_tokens: total, output_token_details: details } = usage;
console.log(`${read} read, ${written} written, of which ${details?.reasoning} are reasoning, ${total} in all`);
const changed = written !== 2 || details?.reasoning !== 320 || total !== 334;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
