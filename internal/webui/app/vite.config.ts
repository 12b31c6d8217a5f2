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

// The colours stand in palette.ts alone.
const PALETTE = 'virtual:palette.css';
const palette: Plugin = {
  name: 'callgate-palette',
  resolveId: (id) => (id === PALETTE ? PALETTE : undefined),
  load: (id) => (id === PALETTE ? paletteSheet() : undefined),
};

export default defineConfig(({ command }) => ({
  plugins: [react(), palette, placeholders, backOffice],
  html: command === 'build' ? { cspNonce: '__NONCE__' } : {},
  build: {
    target: 'es2022',
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy takes files, not data URLs
    chunkSizeWarningLimit: 700,
    rolldownOptions: { input: ['index.html', 'admin.html'] },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(['/api', '/gateway', '/via', '/docs', '/openapi.yaml', '/dev'].map((path) => [path, product])),
  },
}));
