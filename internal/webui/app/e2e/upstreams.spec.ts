import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { components } from '../src/api/schema';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Administrator } from './test';

type Schemas = components['schemas'];

/** A provider that takes one key, and counts what it was asked with each. */
async function provider(key: string) {
  const state = { key, asked: new Map<string, number>(), url: '', close: () => {} };
  const server = createServer((request, response) => {
    const shown = (request.headers.authorization ?? '').replace('Bearer ', '');
    state.asked.set(shown, (state.asked.get(shown) ?? 0) + 1);
    response.writeHead(shown === state.key ? 200 : 401, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return state;
}

const make = (administrator: Administrator, id: string, baseUrl: string, key: string) =>
  administrator.api<Schemas['Upstream']>('POST', '/api/admin/upstreams', { id, name: `Name ${id}`, baseUrl, key, skipCheck: true });

async function capabilityOf(administrator: Administrator, id: string, upstreams: object[]) {
  const { items } = await administrator.api<Schemas['GroupList']>('GET', '/api/admin/groups');
  return administrator.api<Schemas['AdminCapability']>('POST', '/api/admin/capabilities', {
    id,
    name: `Name ${id}`,
    groupId: items[0]!.id,
    upstreamModel: 'm',
    defaultPath: '/v1/chat/completions',
    upstreams,
  });
}

test('an upstream is created once its key works, rotated in one step, and has its key of before put back', async ({
  page,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /);
  const mark = randomUUID().slice(0, 8);
  const server = await provider('sk-first-of-the-provider');
  try {
    await page.goto('/admin/upstreams');
    await page.getByRole('button', { name: 'New upstream' }).click();
    const form = page.getByRole('form');
    await form.getByLabel('Name', { exact: true }).fill(`Provider ${mark}`);
    await form.getByLabel('Identifier').fill(`up-${mark}`);
    await form.getByLabel('Upstream URL').fill(server.url);
    await form.getByLabel('Upstream key').fill('sk-x');
    await page.keyboard.press('Enter');
    await expect(form.getByRole('alert')).toContainText('answered 401');
    await form.getByLabel('Upstream key').fill(server.key);
    await form.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row').filter({ hasText: `up-${mark}` });
    await expect(row).toContainText('none');
    const ids = ['a', 'b', 'c', 'd'].map((one) => `${one}-${mark}`);
    for (const id of ids) await capabilityOf(administrator, id, [{ upstreamId: `up-${mark}` }]);
    await page.reload();
    await expect(row).toContainText('4 capabilities');

    await row.getByRole('button', { name: 'Edit' }).click();
    await form.getByLabel('Upstream key').fill('sk-y');
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form.getByRole('alert')).toContainText('answered 401');
    server.key = 'sk-second-of-the-provider';
    await form.getByLabel('Upstream key').fill(server.key);
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toHaveCount(0);
    await row.getByRole('button', { name: 'Check' }).click();
    await expect(page.getByText('The connection works')).toBeVisible();
    await row.getByRole('button', { name: 'Restore key' }).click();
    await expect(page.getByRole('dialog')).toContainText('Capabilities that use it: 4');
    await page.getByRole('dialog').getByRole('button', { name: 'Restore key' }).click();
    await expect(page.getByText('has its key of before')).toBeVisible();
    await row.getByRole('button', { name: 'Check' }).click();
    await expect(page.getByText('The connection does not work')).toBeVisible();
    expect(await page.content()).not.toMatch(/sk-(first|second)/);
    await page.goto(`/admin/audit?target=Provider%20${mark}`);
    await expect(
      page
        .getByRole('row')
        .filter({ hasText: `Provider ${mark}` })
        .first(),
    ).toContainText('Checked upstream');
  } finally {
    server.close();
  }
});

test('a capability names its upstreams with order, weight and state; without any its own address counts', async ({
  page,
  administrator,
}) => {
  const mark = randomUUID().slice(0, 8);
  for (const id of [`one-${mark}`, `two-${mark}`]) await make(administrator, id, `http://127.0.0.1:9/${id}`, 'a-key');
  const id = `cap-${mark}`;
  await capabilityOf(administrator, id, [{ upstreamId: `one-${mark}` }]);
  await page.goto(`/admin/capabilities/${id}`);
  const named = page.getByRole('group', { name: 'Named upstreams' });
  await expect(named.getByRole('listitem')).toHaveText([new RegExp(`one-${mark}.*Not called`)]);
  await expect(page.getByRole('group', { name: 'Final URL' })).toContainText(`http://127.0.0.1:9/one-${mark}/v1/chat/completions`);
  await named.getByLabel('Upstream to add').selectOption(`two-${mark}`);
  await named.getByRole('button', { name: 'Add upstream' }).click();
  await named.getByRole('listitem').nth(1).getByLabel('Weight').fill('7');
  await named.getByRole('listitem').nth(1).getByLabel('Status').selectOption('disabled');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('No changes')).toBeVisible();
  const stored = await administrator.api<Schemas['AdminCapability']>('GET', `/api/admin/capabilities/${id}`);
  expect(stored.upstreams.map(({ upstreamId, weight, priority, status }) => [upstreamId, weight, priority, status])).toEqual([
    [`one-${mark}`, 1, 0, 'enabled'],
    [`two-${mark}`, 7, 1, 'disabled'],
  ]);
  for (const name of [`one-${mark}`, `two-${mark}`]) await named.getByRole('button', { name: `Remove Name ${name}` }).click();
  await page.getByLabel('Upstream URL').fill('http://127.0.0.1:9/own');
  await page.getByLabel('Upstream key').fill('its-own-key');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('No changes')).toBeVisible();
  expect((await administrator.api<Schemas['AdminCapability']>('GET', `/api/admin/capabilities/${id}`)).upstreams).toEqual([]);
});

test('a failing upstream shows as the gateway sees it, and a call tells which one answered it', async ({
  page,
  administrator,
  developer,
}) => {
  const mark = randomUUID().slice(0, 8);
  const server = await provider('a-key');
  try {
    await make(administrator, `dead-${mark}`, 'http://127.0.0.1:1', 'a-key');
    await make(administrator, `live-${mark}`, server.url, 'a-key');
    const id = `both-${mark}`;
    await capabilityOf(administrator, id, [
      { upstreamId: `dead-${mark}`, priority: 0 },
      { upstreamId: `live-${mark}`, priority: 1 },
    ]);
    const app = await developer.createApplication('Calls both', [id]);
    for (let i = 0; i < 22; i++) {
      const answer = await page.request.post(`/gateway/v1/chat/completions?model=${id}`, {
        headers: { Authorization: `Bearer ${app.accessKey}` },
        data: { a: 1 },
      });
      expect(answer.status()).toBe(200);
    }
    await page.goto('/admin/upstreams');
    const row = page.getByRole('row').filter({ hasText: `dead-${mark}` });
    await expect(row).toContainText('Down', { timeout: 15_000 });
    await expect(row).toContainText('it refused the connection');
    await expect(page.getByRole('row').filter({ hasText: `live-${mark}` })).toContainText('Calls: 22', { timeout: 40_000 });
    await expectNoSidewaysScroll(page);
    await inEveryLook(
      page,
      () => expect(row).toBeVisible(),
      () => expectAccessible(page),
    );
  } finally {
    server.close();
  }
});

test('the page fits narrow screens and says what to do when there is nothing', async ({ page, administrator }) => {
  void administrator;
  await page.route('**/api/admin/upstreams', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: { items: [] } } }));
  await page.goto('/admin/upstreams');
  await expect(page.getByText('There are no upstreams yet')).toBeVisible();
  await page.unroute('**/api/admin/upstreams');
  for (const width of [390, 768, 1024]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/admin/upstreams');
    await expect(page.getByRole('heading', { name: 'Upstreams' })).toBeVisible();
    await page.getByRole('button', { name: 'New upstream' }).click();
    await expectNoSidewaysScroll(page);
  }
});
