#!/usr/bin/env bash
# @langchain/anthropic 1.5.11 with @langchain/core 1.4.0 (npm), Node 20.
#
# Anthropic begins a stream with what was used by then, and ends it with the counts of the whole message: those of message_delta
# are cumulative, the input too, which grows where the answer searched the web.
# Expected: usage_metadata of the end: 10682 read, 510 written.
# Seen: 2679 read, 513 written. The input is that of message_start; the output is that of both, added up, so each streamed answer
# has a few tokens more than the same answer has plain.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/anthropic@1.5.11 @langchain/core@1.4.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { ChatAnthropic } from '@langchain/anthropic';

const cache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
const end = { input_tokens: 10682, output_tokens: 510, ...cache, server_tool_use: { web_search_requests: 1 } };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-5', stop_reason: 'end_turn', stop_sequence: null };
const events = [
  { type: 'message_start', message: { ...message, stop_reason: null, content: [], usage: { input_tokens: 2679, output_tokens: 3, ...cache } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: end },
  { type: 'message_stop' },
];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const stream = JSON.parse(body).stream;
  response.writeHead(200, { 'Content-Type': stream ? 'text/event-stream' : 'application/json' });
  response.end(stream ? events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('')
    : JSON.stringify({ ...message, content: [{ type: 'text', text: 'Hello.' }], usage: end }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const model = new ChatAnthropic({ model: 'claude-sonnet-5', apiKey: 'k', anthropicApiUrl: `http://127.0.0.1:${server.address().port}` });
const figures = ({ usage_metadata: u }) => `${u.input_tokens} read, ${u.output_tokens} written`;
let whole;
for await (const chunk of await model.stream('Hello')) whole = whole ? whole.concat(chunk) : chunk;
const plain = figures(await model.invoke('Hello')), streamed = figures(whole);
console.log(`plain: ${plain}; streamed: ${streamed}`);
const changed = plain !== '10682 read, 510 written' || streamed !== '2679 read, 513 written';
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
