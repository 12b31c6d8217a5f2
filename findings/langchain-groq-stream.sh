#!/usr/bin/env bash
# @langchain/groq 1.3.1 with @langchain/core 1.4.0 (npm), Node 20.
#
# Groq ends a stream with a chunk that has usage twice: at its root and in x_groq (recorded so in the AI SDK's tests).
# Expected: usage_metadata of what was used, as of the same answer plain: 190 + 13 = 203.
# Seen: no usage_metadata at all where the pieces of the stream are put together; and what response_metadata has instead tells
# a total of 406, both copies added up.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/groq@1.3.1 @langchain/core@1.4.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { ChatGroq } from '@langchain/groq';

const usage = { queue_time: 0.17, prompt_tokens: 190, prompt_time: 0.01, completion_tokens: 13, completion_time: 0.1, total_tokens: 203, total_time: 0.11 };
const of = (object, choice, more) => ({ id: 'chatcmpl-1', object, created: 1770770846, model: 'qwen/qwen3-32b', choices: [{ index: 0, logprobs: null, ...choice }], ...more });
const chunks = [
  of('chat.completion.chunk', { delta: { role: 'assistant', content: '' }, finish_reason: null }, { x_groq: { id: 'req_1' } }),
  of('chat.completion.chunk', { delta: { content: 'Hello.' }, finish_reason: null }),
  of('chat.completion.chunk', { delta: {}, finish_reason: 'stop' }, { x_groq: { id: 'req_1', usage }, usage }),
];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const stream = JSON.parse(body).stream;
  response.writeHead(200, { 'Content-Type': stream ? 'text/event-stream' : 'application/json' });
  response.end(stream ? [...chunks.map((c) => JSON.stringify(c)), '[DONE]'].map((c) => `data: ${c}\n\n`).join('')
    : JSON.stringify(of('chat.completion', { message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }, { usage, x_groq: { id: 'req_1' } })));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const model = new ChatGroq({ model: 'qwen/qwen3-32b', apiKey: 'k', baseUrl: `http://127.0.0.1:${server.address().port}` });
const plain = await model.invoke('Hello');
let streamed;
for await (const chunk of await model.stream('Hello')) streamed = streamed ? streamed.concat(chunk) : chunk;
const figures = [plain.usage_metadata?.total_tokens, streamed.usage_metadata?.total_tokens, streamed.response_metadata.usage?.total_tokens];
console.log(`plain: ${figures[0]}; streamed: ${figures[1]}, and in response_metadata ${figures[2]}`);
const changed = figures[0] !== 203 || figures[1] !== undefined || figures[2] !== 406;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
