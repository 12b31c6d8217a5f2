import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from '@playwright/test';
import { expect, test } from './test';

// Words that occur nowhere else: wherever one turns up, the upstream's settings went there.
const id = `plain-${randomUUID().slice(0, 8)}`;
const path = `canarypath${randomUUID().replaceAll('-', '')}`;
const key = `canarykey${randomUUID().replaceAll('-', '')}`;

/** Where each of the words was found in what came to the browser, and in the addresses and headers it sent. */
function watch(context: BrowserContext, words: readonly string[]) {
  const found: string[] = [];
  const pending: Promise<unknown>[] = [];
  const look = (where: string, text: string) => {
    for (const word of words) if (text.includes(word)) found.push(`${word} in ${where}`);
  };
  context.on('request', (request) => look(`request ${request.url()}`, request.url() + JSON.stringify(request.headers())));
  context.on(
    'response',
    (response) =>
      void pending.push(
        (async () => {
          const body = await response.body().catch(() => Buffer.alloc(0)); // a redirect has none
          look(`response ${response.url()}`, JSON.stringify(response.headers()) + body.toString('utf8'));
        })(),
      ),
  );
  return async (word: string) => {
    await Promise.all(pending);
    return found.filter((one) => one.startsWith(word));
  };
}

/** The page as it stands: markup, fields, storage, cookies, history. */
const standing = (page: Page) =>
  page.evaluate(() =>
    JSON.stringify([
      document.documentElement.outerHTML,
      [...document.querySelectorAll<HTMLInputElement>('input, textarea')].map((field) => field.value),
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      history.state,
      location.href,
    ]),
  );

test('no upstream URL or key reaches the console, and no key comes back to the back office', async ({
  page,
  context,
  browser,
  administrator,
  developer,
  expected,
  baseURL,
}) => {
  test.setTimeout(180_000);
  expected.push(/gateway.* 5\d\d /);
  const server = createServer((request, response) => {
    response.statusCode = request.headers.authorization === `Bearer ${key}` ? 200 : 401;
    response.setHeader('Content-Type', 'application/json').end('{"choices":[{"message":{"content":"served"}}]}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const office = await browser.newContext({ baseURL: baseURL!, locale: 'en-US' });
    await office.addCookies(await context.cookies());
    const editor = await office.newPage();
    const inOffice = watch(office, [key, path]);
    const group = await administrator.api<{ id: string }>('POST', '/api/admin/groups', { name: 'Canary' });
    await editor.goto(`/admin/capabilities/new?groupId=${group.id}`);
    for (const [name, value] of [
      ['Identifier', id],
      ['Name', 'Canary'],
      ['Upstream URL', `http://${host}/${path}`],
      ['Upstream key', key],
      ['Upstream model', 'served'],
    ] as const)
      await editor.getByLabel(name, { exact: true }).fill(value);
    await editor.getByRole('button', { name: 'Create' }).click();
    await expect(editor).toHaveURL(`/admin/capabilities/${id}`);
    await editor.getByRole('button', { name: 'Check connection' }).click();
    await expect(editor.getByText('The connection works')).toBeVisible();
    expect(await standing(editor)).not.toContain(key);
    for (const place of [`/admin/capabilities?q=${id}`, `/admin/capabilities/${id}`]) {
      await editor.goto(place);
      await expect(editor.getByText('Canary').filter({ visible: true }).first()).toBeVisible();
      expect(await standing(editor), place).not.toContain(key);
    }
    // Other tests write into the trail too: its newest page may have gone on.
    await editor.goto('/admin/audit');
    await expect(editor.getByRole('row').nth(1)).toBeVisible();
    expect(await standing(editor)).not.toContain(key);
    const trail = JSON.stringify(await administrator.api('GET', '/api/admin/audit?size=100'));
    expect(trail).toContain(id);
    expect(trail).not.toContain(key);
    expect(await inOffice(key)).toEqual([]);
    expect(await inOffice(path), 'the search finds what does come').not.toEqual([]);
    await office.close();

    const words = [key, path, host];
    const inConsole = watch(context, words);
    const application = await developer.createApplication('Looks around', [id]);
    for (const place of ['/', '/applications', `/applications/${application.id}`, '/capabilities', `/capabilities/${id}`]) {
      await page.goto(place);
      await page.waitForLoadState('networkidle');
      for (const word of words) expect(await standing(page), `${word} on ${place}`).not.toContain(word);
    }
    const answer = page.getByRole('region', { name: 'Response' });
    await page.goto(`/capabilities/${id}?tab=try`);
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(answer.locator('pre')).toHaveText('served');
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(answer).toContainText('The upstream cannot be reached.');
    for (const view of ['Raw', 'Headers']) {
      await answer.getByRole('button', { name: view }).click();
      for (const word of words) expect(await standing(page), word).not.toContain(word);
    }
    for (const word of words) expect(await inConsole(word)).toEqual([]);
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
    expect(await page.evaluate(() => document.cookie)).not.toMatch(/ey[\w-]+\./); // no token a script could read
  } finally {
    server.close();
  }
});
