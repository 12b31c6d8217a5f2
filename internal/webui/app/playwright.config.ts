import { defineConfig } from '@playwright/test';
import { headless } from './e2e/chromium';

export default defineConfig({
  testDir: 'e2e',
  testMatch: process.env['SHOTS'] ? '*.shots.ts' : '*.spec.ts',
  // What looks at a clock, and WebKit, which is slow to start, are in make nightly only.
  ...(process.env['NIGHTLY_PAGES'] ? {} : { testIgnore: ['webkit.spec.ts'], grepInvert: /@nightly/ }),
  outputDir: 'e2e/.output',
  globalSetup: './e2e/product.ts',
  workers: 3, // on two cores: a test waits a third of its time
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
    launchOptions: { ...headless, args: ['--no-sandbox', '--disable-dev-shm-usage'] },
  },
});
