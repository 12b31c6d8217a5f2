import { randomUUID } from 'node:crypto';
import { expect, test } from './test';

test('no upstream address or key ever reaches a browser', async ({ page, browser, developer, administrator, baseURL }) => {
  test.setTimeout(180_000);
  const [host, key, id] = [`canary-${randomUUID()}`, `canary-key-${randomUUID()}`, `canary-${randomUUID().slice(0, 8)}`];
  await administrator.api('POST', '/api/admin/capabilities', {
    id,
    name: 'Canary',
    groupId: 'demo',
    description: '',
    upstreamBaseUrl: `http://127.0.0.1:9/${host}`,
    upstreamKey: key,
    upstreamModel: 'demo',
    defaultPath: '/v1/chat/completions',
  });
  const application = await developer.createApplication('Canaries', [id]);
  await expect.poll(async () => (await developer.call(application.accessKey, { capability: id })).status).toBe(502); // nothing listens there
  const made = await developer.call(application.accessKey, {
    capability: id,
    body: { note: 'my own', api_key: 'sk-secret-of-the-caller-0123456789' },
  });

  expect(made.status).toBe(502);
  await expect
    .poll(async () => (await developer.api<{ total: number }>('GET', `/api/statistics/applications/${application.id}/calls`)).total, {
      timeout: 30_000,
    })
    .toBeGreaterThan(1);

  const heard: Promise<string>[] = [];
  const listen = (target: typeof page) =>
    target.on('response', (response) =>
      heard.push(
        Promise.all([response.url(), response.allHeaders().then((h) => JSON.stringify(h)), response.text().catch(() => '')]).then((parts) =>
          parts.join('\n'),
        ),
      ),
    );
  listen(page);
  const kept = () =>
    page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, history.state]),
    );

  for (const path of [
    '/',
    '/applications',
    `/applications/${application.id}`,
    '/capabilities',
    `/capabilities/${id}`,
    `/capabilities/${id}?tab=try&app=${application.id}`,
  ]) {
    await page.goto(path);
    await expect(page.locator('main h1')).toBeVisible();
    await page.waitForLoadState('networkidle');
    heard.push(Promise.resolve(await kept()));
  }
  const { items } = await developer.api<{ items: { callId: string }[] }>('GET', `/api/statistics/applications/${application.id}/calls`);
  expect(items.length).toBeGreaterThan(1);
  for (const { callId } of items)
    heard.push(
      developer.api('GET', `/api/statistics/applications/${application.id}/calls/${callId}`).then((detail) => JSON.stringify(detail)),
    );
  const all = (await Promise.all(heard)).join('\n');
  expect(all, 'the search sees what the developer wrote').toContain('my own');
  for (const secret of [host, key, 'sk-secret-of-the-caller']) expect(all.includes(secret), secret).toBe(false);
  expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);

  // The back office may show where an upstream is, never its key.
  const context = await browser.newContext({ ...(baseURL ? { baseURL } : {}) });
  await context.addCookies(await page.context().cookies());
  const office = await context.newPage();
  const said: Promise<string>[] = [];
  office.on('response', (response) => said.push(response.text().catch(() => '')));
  for (const path of ['/admin/capabilities', `/admin/capabilities/${id}`, '/admin/audit']) {
    await office.goto(path);
    await expect(office.locator('main h1')).toBeVisible();
    await office.waitForLoadState('networkidle');
    said.push(Promise.resolve(await office.content()));
  }
  const shown = (await Promise.all(said)).join('\n');
  expect(shown).toContain(id);
  expect(shown.includes(key)).toBe(false);
  await context.close();
});
