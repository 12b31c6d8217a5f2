import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

// Debian's Chromium; CHROMIUM names another, and without either Playwright's own is used.
const chromium = process.env['CHROMIUM'] ?? (existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined);

export default defineConfig({
  testDir: 'e2e',
  testMatch: process.env['SHOTS'] ? '*.shots.ts' : '*.spec.ts',
  outputDir: 'e2e/.output',
  globalSetup: './e2e/product.ts',
  workers: 2,
  fullyParallel: true,
  // Generous, for a machine that others use too: what passes waits for none of it.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  reporter: process.env['GO_STYLE'] ? [['./build/playwright-lines.mjs']] : [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    timezoneId: 'America/Los_Angeles', // days are Beijing's wherever the browser is
    trace: process.env['TRACE'] ? 'retain-on-failure' : 'off',
    launchOptions: { ...(chromium ? { executablePath: chromium } : {}), args: ['--no-sandbox', '--disable-dev-shm-usage'] },
  },
});
