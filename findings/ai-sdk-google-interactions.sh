#!/usr/bin/env bash
# ai 7.0.173 with @ai-sdk/google 4.0.121 (npm), Node 20.
#
# Gemini tells what its own tools brought into the prompt beside the prompt: toolUsePromptTokenCount of generateContent,
# total_tool_use_tokens of interactions. Both are in its total.
# Expected: an input that has them, and so a total that is Gemini's, of both.
# Seen: of generateContent, yes. Of an interaction not: 22 instead of 220, and a total of 1785 instead of 1983.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ai@7.0.173 @ai-sdk/google@4.0.121
cat > main.mjs <<'JS'
import { createServer } from 'node:http';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { generateText } from 'ai';

const generated = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 22, toolUsePromptTokenCount: 198, candidatesTokenCount: 590, thoughtsTokenCount: 1173, totalTokenCount: 1983 },
};
const interaction = {
  id: 'i', object: 'interaction', status: 'completed', model: 'gemini-3-pro', steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Hello.' }] }],
  usage: { total_input_tokens: 22, total_tool_use_tokens: 198, total_output_tokens: 590, total_thought_tokens: 1173, total_tokens: 1983 },
};
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(request.url.includes('interactions') ? interaction : generated));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const google = createGoogleGenerativeAI({ baseURL: `http://127.0.0.1:${server.address().port}`, apiKey: 'k' });
const figures = async (model) => {
  const { usage } = await generateText({ model, prompt: 'Hello' });
  return [usage.inputTokens, usage.outputTokens, usage.totalTokens].join();
};
const content = await figures(google('gemini-3-pro')), interactions = await figures(google.interactions('gemini-3-pro'));
console.log(`input, output, total of generateContent: ${content}; of an interaction with the same figures: ${interactions}`);
const changed = content !== '220,1763,1983' || interactions !== '22,1763,1785';
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
