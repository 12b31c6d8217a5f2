// Runs after vite: holds the budgets of JavaScript and compresses what is embedded into the binary.
import { readFileSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = new URL(`../${process.env['DIST'] ?? 'dist'}/`, import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
const KiB = 1024;

const sizes = new Map();
const size = (file) => {
  if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(join(dist, file)), { level: 9 }).length / KiB);
  return sizes.get(file);
};

// All files a chunk needs before it runs.
function needs(key, found = new Set()) {
  if (found.has(key)) return found;
  found.add(key);
  for (const next of manifest[key].imports ?? []) needs(next, found);
  return found;
}
const total = (keys) =>
  [...keys]
    .map((key) => manifest[key].file)
    .filter((f) => f.endsWith('.js'))
    .reduce((sum, file) => sum + size(file), 0);

const chart = 'src/chart/Chart.tsx';
const first = new Set([
  ...needs('index.html'),
  ...needs('src/overview/OverviewPage.tsx'),
  ...needs('src/locale/zh/console.ts'), // one language
]);
const gates = [
  ['before the first figures', total(first), 180],
  ['chart', total([...needs(chart)].filter((key) => !first.has(key))), 180],
];
for (const key of Object.keys(manifest)) {
  if (first.has(key) || needs(chart).has(key) || !manifest[key].file.endsWith('.js')) continue;
  gates.push([manifest[key].file, size(manifest[key].file), 120]);
}
let over = 0;
for (const [what, kib, most] of gates) {
  if (kib > most) over++;
  if (kib > most || most !== 120) console.log(`${kib > most ? 'OVER' : 'ok  '} ${what}: ${kib.toFixed(1)} KiB gzip of ${most}`);
}
if (over > 0) process.exit(1);

unlinkSync(join(dist, '.vite/manifest.json'));
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!/\.(js|css|svg)$/.test(name) || statSync(path).size < 512) continue;
  const content = readFileSync(path);
  writeFileSync(path + '.gz', gzipSync(content, { level: 9 }));
  writeFileSync(path + '.br', brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
