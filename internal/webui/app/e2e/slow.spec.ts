import type { Page } from '@playwright/test';
import { type Developer, expect, test } from './test';

async function withFigures(developer: Developer): Promise<void> {
  const { accessKey } = await developer.createApplication('Search');
  await developer.calls(accessKey, 2);
  await developer.counted(2);
}

const figuresStand = (page: Page) =>
  page.waitForFunction(() => [...document.querySelectorAll('.tile strong')].some((tile) => /\d/.test(tile.textContent ?? '')), undefined, {
    polling: 'raf',
  });

test('the frame stands before any code is there, but where nobody is signed in', async ({ page, developer }) => {
  void developer;
  let go = () => {};
  const waits = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/*.js', async (route) => {
    await waits;
    await route.continue();
  });
  for (const [path, frames] of [
    ['/', 1],
    ['/calls', 1],
    ['/admin', 1],
    ['/sign-in', 0],
    ['/admin/sign-in', 0],
  ] as const) {
    await page.goto(path, { waitUntil: 'commit' });
    await expect(page.locator('.frame .rail .brand')).toHaveCount(frames);
    if (frames) await expect(page.locator('.frame .rail .brand')).toBeVisible();
  }
  go();
});

test('the first figures wait for nothing but the few files that the page itself names', async ({ page, developer }) => {
  await withFigures(developer);
  const named = new Set<string>();
  let go = () => {};
  const waits = new Promise<void>((resolve) => (go = resolve));
  await page.route('/', async (route) => {
    const answer = await route.fetch();
    for (const [, file] of (await answer.text()).matchAll(/(\/assets\/[^"]+)/g)) named.add(file!);
    await route.fulfill({ response: answer });
  });
  await page.route('**/assets/*', async (route) => {
    if (!named.has(new URL(route.request().url()).pathname)) await waits;
    await route.continue();
  });
  await page.goto('/');
  await figuresStand(page);
  expect(named.size).toBeGreaterThan(0);
  expect(named.size).toBeLessThanOrEqual(12);
  go();
});

test('a line of 400 kbit/s shows content in 2 s, figures in 6, and the chart after them @nightly', async ({ page, developer }) => {
  await withFigures(developer);
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  await line.send('Network.setCacheDisabled', { cacheDisabled: true });
  await line.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 600,
    downloadThroughput: 400_000 / 8,
    uploadThroughput: 400_000 / 8,
  });
  await page.goto('/', { waitUntil: 'commit' });
  await figuresStand(page);
  const { content, figures } = await page.evaluate(() => ({
    content: performance.getEntriesByName('first-contentful-paint')[0]!.startTime,
    figures: performance.now(),
  }));
  await expect(page.locator('canvas')).toHaveCount(0);
  await expect(page.locator('canvas').first()).toBeVisible();
  console.log(`    400 kbit/s, 600 ms: content ${content.toFixed(0)} ms, figures ${figures.toFixed(0)} ms`);
  expect(content).toBeLessThanOrEqual(2_000);
  expect(figures).toBeLessThanOrEqual(6_000);
});
