#!/usr/bin/env bash
# openai 7.59.0, groq-sdk 1.6.0, @anthropic-ai/sdk 1.14.0, @mistralai/mistralai 2.7.0, @google/genai 3.3.0 (npm), Node 20.
#
# A server answers an error in OpenAI's shape, {"error":{"message":"…"}}, with or without a "message" beside it at the top.
# Expected: a client's exception has the sentence as its message, wherever its own provider puts it.
# Seen: openai shows the sentence of both. groq and anthropic, which share its generator, look for one at the top only and
# else show the body as it came, though Groq answers in OpenAI's shape; mistral and google show the body always. So an error
# that is to be read in every client has its sentence twice: in error and at the top.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0 groq-sdk@1.6.0 @anthropic-ai/sdk@1.14.0 @mistralai/mistralai@2.7.0 @google/genai@3.3.0
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Mistral } from '@mistralai/mistralai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';

const error = { message: 'No such model.', type: 'invalid_request_error' };
let body;
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(400, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const at = `http://127.0.0.1:${server.address().port}`;
const messages = [{ role: 'user', content: 'Hello' }];
const clients = {
  openai: ['sentence', 'sentence', () => new OpenAI({ baseURL: at, apiKey: 'k' }).chat.completions.create({ model: 'm', messages })],
  groq: ['body', 'sentence', () => new Groq({ baseURL: at, apiKey: 'k' }).chat.completions.create({ model: 'm', messages })],
  anthropic: ['body', 'sentence', () => new Anthropic({ baseURL: at, apiKey: 'k' }).messages.create({ model: 'm', max_tokens: 9, messages })],
  mistral: ['body', 'body', () => new Mistral({ serverURL: at, apiKey: 'k' }).chat.complete({ model: 'm', messages })],
  google: ['body', 'body', () => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: at } }).models.generateContent({ model: 'm', contents: 'Hello' })],
};
let changed = false;
for (const [name, [nested, both, ask]] of Object.entries(clients)) {
  const shown = [];
  for (body of [{ error }, { error, message: error.message }]) {
    const said = await ask().then(() => '', (fault) => fault.message);
    shown.push(said.includes('{') ? 'body' : said.includes(error.message) ? 'sentence' : said);
  }
  console.log(`${name}: ${shown[0]}; with a message at the top: ${shown[1]}`);
  changed ||= shown[0] !== nested || shown[1] !== both;
}
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
