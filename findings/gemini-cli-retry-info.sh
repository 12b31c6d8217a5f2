#!/usr/bin/env bash
# @google/gemini-cli 0.61.0 (npm), Node 20.
#
# A server refuses a model's call with 429 in Google's shape, Retry-After: 3600 and x-should-retry: false: a quota of the day is
# used up. Expected: the client says so at once, or waits for as long as Retry-After tells.
# Seen: it looks at neither header and asks again within seconds, several times, before it says anything. What it does look at is
# a detail of the body, google.rpc.RetryInfo: where its retryDelay is too long to wait for, one request is all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional @google/gemini-cli@0.61.0
mkdir -p home/.gemini
echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' > home/.gemini/settings.json
cat > main.mjs <<'JS'
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

let requests, details, since;
const server = createServer((request, response) => {
  request.resume();
  if (request.url.includes('generateContent') || request.url.includes('GenerateContent')) requests++;
  response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '3600', 'x-should-retry': 'false' });
  response.end(JSON.stringify({ error: { code: 429, message: 'Used up for today.', status: 'RESOURCE_EXHAUSTED', details } }));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));

/** How often it asks within 45 s, and whether it has ended by then. */
async function ask(given) {
  requests = 0;
  details = given;
  const env = { PATH: process.env.PATH, HOME: `${process.cwd()}/home`, GEMINI_API_KEY: 'k', NO_COLOR: '1',
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${server.address().port}` };
  const child = spawn('node_modules/.bin/gemini', ['-m', 'demo', '-p', 'Hello', '--skip-trust'], { env, stdio: 'ignore', detached: true });
  const ended = new Promise((end) => child.on('exit', () => end(true)));
  const patience = new Promise((late) => setTimeout(() => late(false), 45_000));
  const itself = await Promise.race([ended, patience]);
  if (!itself) process.kill(-child.pid, 'SIGKILL');
  return { requests, itself };
}
const plain = await ask([]);
const told = await ask([{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3600s' }]);
console.log(`without RetryInfo: ${plain.requests} requests within 45 s, ended by itself: ${plain.itself}`);
console.log(`with RetryInfo: ${told.requests} requests, ended by itself: ${told.itself}`);
const changed = plain.requests < 2 || told.requests !== 1 || !told.itself;
if (changed) console.log('this is no longer as it was');
process.exit(changed ? 1 : 0);
JS
node main.mjs
