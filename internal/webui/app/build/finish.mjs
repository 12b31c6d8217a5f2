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
const brotli = (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });

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

// The two sites: what each starts with, its words, and its first page, parts of which most pages show.
const sites = {
  'index.html': ['src/App.tsx', 'console', 'src/overview/OverviewPage.tsx'],
  'admin.html': ['src/Office.tsx', 'index', 'src/figures/HealthPage.tsx'],
};
const early = (page, language) => {
  const [app, words, first] = sites[page];
  return new Set([page, app, `src/locale/${language}/${words}.ts`, first].flatMap((key) => [...needs(key)]));
};

const chart = 'src/chart/Chart.tsx';
const first = early('index.html', 'zh');
const gates = [
  ['before the first figures, gzip', total(first), 170],
  ['chart, gzip', total([...needs(chart)].filter((key) => !first.has(key))), 180],
];
for (const key of Object.keys(manifest)) {
  if (first.has(key) || needs(chart).has(key) || !manifest[key].file.endsWith('.js')) continue;
  gates.push([manifest[key].file, size(manifest[key].file), 120]);
}
// As browsers get it over TLS, where they take brotli.
const start = join(dist, manifest[[...first].find((key) => key.startsWith('_start-') && key.endsWith('.js'))].file);
gates.push(['the first script, brotli', brotli(readFileSync(start)).length / KiB, 120]);
let over = 0;
for (const [what, kib, most] of gates) {
  if (kib > most) over++;
  if (kib > most || !what.endsWith('.js')) console.log(`${kib > most ? 'OVER' : 'ok  '} ${what}: ${kib.toFixed(1)} KiB of ${most}`);
}
if (over > 0) process.exit(1);

// Each page is there in each language, and has all that is needed for its first figures fetched at once.
for (const page of Object.keys(sites)) {
  const html = readFileSync(join(dist, page), 'utf8');
  for (const [lang, folder] of [
    ['zh-CN', 'zh'],
    ['en', 'en'],
  ]) {
    // The largest first: browsers open six connections, and what waits for one of them waits a round trip longer.
    const keys = [...early(page, folder)]
      .filter((key) => !needs(page).has(key))
      .sort((a, b) => size(manifest[b].file) - size(manifest[a].file));
    const links = [
      ...[...new Set(keys.flatMap((key) => manifest[key].css ?? []))].map(
        (file) => `<link rel="stylesheet" crossorigin href="/${file}" nonce="__NONCE__">`,
      ),
      ...keys.map((key) => `<link rel="modulepreload" crossorigin href="/${manifest[key].file}" nonce="__NONCE__">`),
    ];
    const text = html.replace('__LANG__', lang).replace('<script', `${links.join('\n    ')}\n    <script`);
    writeFileSync(join(dist, page.replace('.html', `.${lang}.html`)), text);
  }
  unlinkSync(join(dist, page));
}

unlinkSync(join(dist, '.vite/manifest.json'));
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!/\.(js|css|svg)$/.test(name) || statSync(path).size < 512) continue;
  const content = readFileSync(path);
  writeFileSync(path + '.gz', gzipSync(content, { level: 9 }));
  writeFileSync(path + '.br', brotli(content));
}
