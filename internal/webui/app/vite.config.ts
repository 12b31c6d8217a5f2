import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { paletteSheet } from './src/ui/page/palette';

// The server fills these into every page it sends; `npm run dev` has no such server.
const placeholders: Plugin = {
  name: 'callgate-placeholders',
  apply: 'serve',
  transformIndexHtml: (html) => html.replace('__LANG__', 'zh-CN').replace('__THEME__', 'system'),
};

// The back office is a second page of the same site.
const backOffice: Plugin = {
  name: 'callgate-back-office',
  apply: 'serve',
  configureServer(server) {
    server.middlewares.use((request, _response, next) => {
      if (/^\/admin(\/|\?|$)/.test(request.url ?? '')) request.url = '/admin.html';
      next();
    });
  },
};

const product = process.env['CALLGATE'] ?? 'http://127.0.0.1:8080';

// Both sites show their frame before any of their code is there.
const frame: Plugin = {
  name: 'callgate-frame',
  transformIndexHtml: (html) => html.replace('<!--frame-->', `<!--frame-->${readFileSync('src/ui/page/frame.html', 'utf8')}<!--/frame-->`),
};

// The colours stand in palette.ts alone.
const PALETTE = 'virtual:palette.css';
const palette: Plugin = {
  name: 'callgate-palette',
  resolveId: (id) => (id === PALETTE ? PALETTE : undefined),
  load: (id) => (id === PALETTE ? paletteSheet() : undefined),
};

// What some modules import, directly or not, is one chunk.
const reached = (name: string, from: string[]) => {
  let found: Set<string> | undefined;
  return (id: string, modules: { getModuleInfo: (id: string) => { importedIds: string[] } | null }): string | null => {
    if (!found) {
      found = new Set();
      const waiting = from.map((file) => resolve(file));
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (found.has(next)) continue;
        found.add(next);
        waiting.push(...(modules.getModuleInfo(next)?.importedIds ?? []));
      }
    }
    return found.has(id) ? name : null;
  };
};

export default defineConfig(({ command }) => ({
  plugins: [react(), palette, frame, placeholders, backOffice],
  html: command === 'build' ? { cspNonce: '__NONCE__' } : {},
  build: {
    target: 'es2022',
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy takes files, not data URLs
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: ['index.html', 'admin.html'],
      // Few files, since each costs a round trip on a slow line: what asks for the session, what both sites start with, and
      // what the first page shows, which most others show too.
      output: {
        codeSplitting: {
          groups: [
            { name: 'session', test: /\/src\/(session\/session|api\/error)\.ts$|preload-helper/ },
            {
              debugName: 'start',
              name: reached(
                'start',
                ['start', 'Shell', 'Block', 'Failures']
                  .map((part) => `src/ui/page/${part}.tsx`)
                  .concat('src/session/Guard.tsx', 'src/find/Finder.tsx', 'src/alerts/FiringBadge.tsx'),
              ),
            },
            { debugName: 'pages', name: reached('pages', ['src/overview/OverviewPage.tsx']) },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(['/api', '/gateway', '/via', '/docs', '/openapi.yaml', '/dev'].map((path) => [path, product])),
  },
}));
