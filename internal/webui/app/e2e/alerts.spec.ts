import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { CHAT, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Developer } from './test';

type Schemas = components['schemas'];
const form = (page: Page) => page.getByRole('form');
const field = (page: Page, name: string) => form(page).getByLabel(name, { exact: true });
const row = (page: Page, name: string) => page.getByRole('region', { name: 'Alerts' }).getByRole('listitem').filter({ hasText: name });
const log = (page: Page, name: string) => page.getByRole('region', { name: `Deliveries: ${name}` });
const long = 'Customer service assistant of the northern department fails too';

/** An endpoint that keeps what it is sent. */
async function endpoint(): Promise<{ url: string; received: { headers: Record<string, unknown>; body: string }[]; close: () => void }> {
  const received: { headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=hook-canary`,
    received,
    close: () => server.close(),
  };
}

const make = (developer: Developer, id: string, draft: Partial<Schemas['AlertDraft']> = {}) =>
  developer.api<Schemas['Alert']>('POST', '/api/alerts', {
    name: long,
    kind: 'failureRate',
    targetType: 'application',
    targetId: id,
    threshold: 20,
    channels: [{ kind: 'mail' }],
    ...draft,
  });

test('an owner makes an alert, sends a test to it, sees what became of it, and reads the secret it is signed with', async ({
  page,
  developer,
}) => {
  const hook = await endpoint();
  await developer.createApplication('Search', [CHAT]);
  await page.goto('/');
  await page.getByRole('link', { name: 'Alerts' }).locator('visible=true').click();
  await expect(page).toHaveURL('/alerts');
  await page.getByRole('button', { name: 'New alert' }).click();
  await expect(field(page, 'Name')).toBeFocused();
  await page.keyboard.type('Search fails');
  await field(page, 'Application').selectOption('Search');
  await field(page, 'Kind of channel 1').selectOption('webhook');
  await field(page, 'URL of channel 1').fill(hook.url);
  await form(page).getByRole('button', { name: 'Add channel' }).click();
  await form(page).getByRole('button', { name: 'Save' }).click();
  const alert = row(page, 'Search fails');
  await expect(alert).toContainText('Search: Failure rate ≥ 20%, within 5 min and 20 calls or more');
  await expect(alert).toContainText(`Mail ${developer.email}`);
  await expect(page.locator('body')).not.toContainText('hook-canary');
  await alert.getByRole('button', { name: 'Test Search fails' }).click();
  await alert.getByRole('button', { name: 'Deliveries of Search fails' }).click();
  await expect(page).toHaveURL(/alert=/);
  await expect(log(page, 'Search fails').getByText('Delivered')).toHaveCount(2, { timeout: 20_000 });
  expect(hook.received).toHaveLength(1);
  expect(JSON.parse(hook.received[0]!.body)).toMatchObject({
    type: 'alert.test',
    data: { rule: { name: 'Search fails' }, target: { name: 'Search' } },
  });
  expect(hook.received[0]!.headers['webhook-signature']).toMatch(/^v1,/);
  const mails = (await (
    await page.request.get(`/dev/mails?to=${developer.email}`, { headers: { Accept: 'application/json' } })
  ).json()) as { items: { subject: string }[] };
  expect(mails.items[0]!.subject).toContain('Search fails');
  await log(page, 'Search fails')
    .getByRole('button', { name: /^Show the secret/ })
    .click();
  await expect(log(page, 'Search fails').getByText(/^whsec_[A-Za-z0-9+/]{40,}/)).toBeVisible();
  hook.close();
});

test('what is wrong with an alert is told at its field, and an alert is edited, silenced, disabled and deleted', async ({
  page,
  developer,
  expected,
}) => {
  expected.push(/ 400 /);
  const app = await developer.createApplication('Search');
  await make(developer, app.id, { name: 'Watched' });
  await page.goto('/alerts');
  await row(page, 'Watched').getByRole('button', { name: 'Edit Watched' }).click();
  await field(page, 'Threshold (%)').fill('101');
  await page.keyboard.press('Enter');
  await expect(field(page, 'Threshold (%)')).toBeFocused();
  await expect(form(page)).toContainText('must be a number above 0, at most 100');
  await field(page, 'Threshold (%)').fill('35');
  await page.keyboard.press('Enter');
  await expect(row(page, 'Watched')).toContainText('≥ 35%');
  const more = async (item: string) => {
    await row(page, 'Watched').getByRole('button', { name: 'More for Watched' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await more('Silence for 8 h');
  await expect(row(page, 'Watched')).toContainText('Silenced until');
  await more('End the silence');
  await expect(row(page, 'Watched')).not.toContainText('Silenced until');
  await more('Disable');
  await expect(row(page, 'Watched')).toContainText('Disabled');
  await more('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('There are no alerts yet.')).toBeVisible();
});

test('an alert that fires is seen on every page, and the deliveries open beneath it', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const other = await developer.createApplication('Batch');
  const { id } = await make(developer, app.id, { name: 'Search fails' });
  await make(developer, other.id, { name: 'Batch fails' });
  let firing = true;
  await page.route('**/api/alerts', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['AlertItems'] };
    for (const item of body.data.items ?? []) if (item.id === id && firing) item.state = { ...item.state, value: 'firing', known: true };
    await route.fulfill({ response: answer, json: body });
  });
  const bar = page.getByRole('status').filter({ hasText: 'Firing now' });
  await page.goto('/capabilities');
  await expect(page.getByRole('link', { name: 'Alerts 1 firing' }).locator('visible=true')).toBeVisible();
  await page.goto(`/applications/${other.id}`);
  await expect(page.getByRole('heading', { name: 'Batch' })).toBeVisible();
  await expect(bar).toHaveCount(0);
  await page.goto(`/applications/${app.id}`);
  await expect(bar).toBeVisible();
  await page.goto('/');
  await bar.getByRole('link', { name: 'Search fails' }).click();
  await expect(page).toHaveURL(`/alerts?alert=${id}`);
  await expect(row(page, 'Search fails').getByRole('region', { name: 'Deliveries: Search fails' })).toBeInViewport();
  await row(page, 'Search fails').getByRole('button', { name: 'Deliveries of Search fails' }).click();
  await expect(page).toHaveURL('/alerts');
  firing = false;
  await expect(page.getByRole('link', { name: 'Alerts', exact: true }).locator('visible=true')).toBeVisible();
});

test('an alert on costs begins with the currency that the application has', async ({ page, administrator, developer }) => {
  const mark = Date.now().toString(36);
  const group = await administrator.api<Schemas['Group']>('POST', '/api/admin/groups', { name: `Costs ${mark}`, sortOrder: 5000 });
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Content-Type', 'application/json');
      response.end('{"model":"m","choices":[{"message":{"content":"fine"}}],"usage":{"prompt_tokens":100,"completion_tokens":20}}');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const id = `cost-${mark}`;
  await administrator.api('POST', '/api/admin/capabilities', {
    id,
    name: `Cost ${mark}`,
    groupId: group.id,
    upstreamBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upstreamKey: 'upstream-key',
    upstreamModel: 'm',
    defaultPath: '/v1/chat/completions',
  });
  const price = { capabilityId: id, upstreamModel: null, currency: 'EUR', from: '2026-01-01', input: '1', cached: null, cacheWrite: null };
  await administrator.api('PUT', '/api/admin/prices', { ...price, output: '1' });
  const app = await developer.createApplication('Search', [id]);
  await developer.createApplication('Silent');
  expect((await developer.call(app.accessKey, { capability: id })).status).toBe(200);
  await expect.poll(async () => (await developer.statistics(app.id)).summary.cost.length).toBe(1);
  await page.goto('/alerts');
  await page.getByRole('button', { name: 'New alert' }).click();
  await field(page, 'Watches').selectOption('cost');
  await field(page, 'Application').selectOption('Silent');
  await expect(field(page, 'Currency')).toHaveValue('');
  await field(page, 'Application').selectOption('Search');
  await expect(field(page, 'Currency')).toHaveValue('EUR');
  server.close();
});

test('an owner watches the budget of a week', async ({ page, developer }) => {
  await developer.createApplication('Search');
  await page.goto('/alerts');
  await page.getByRole('button', { name: 'New alert' }).click();
  await field(page, 'Name').fill('Budget goes');
  await field(page, 'Watches').selectOption('budget');
  await field(page, 'Application').selectOption('Search');
  await field(page, 'Period').selectOption('week');
  await form(page).getByRole('button', { name: 'Save' }).click();
  await expect(row(page, 'Budget goes')).toContainText('Search: Budget spent ≥ 80%, each Beijing week');
  await expect(row(page, 'Budget goes')).toContainText('Now 0%', { timeout: 30_000 }); // there is none
});

test('administrators watch the platform from the back office', async ({ page, administrator }) => {
  await page.goto('/admin/alerts');
  await page.getByRole('button', { name: 'New alert' }).click();
  await field(page, 'Name').fill('Statistics are late');
  await field(page, 'Watches').selectOption('statisticsBehind');
  await form(page).getByRole('button', { name: 'Save' }).click();
  await expect(row(page, 'Statistics are late')).toContainText('Platform: Statistics behind ≥ 60 s');
  await expect(row(page, 'Statistics are late')).toContainText(`Mail ${administrator.email}`);
  await expect(row(page, 'Statistics are late').getByText('OK', { exact: true })).toBeVisible({ timeout: 30_000 });
  await row(page, 'Statistics are late').getByRole('button', { name: 'More for Statistics are late' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row(page, 'Statistics are late')).toHaveCount(0);
});

test('the page of alerts is accessible and fits every width in every look', async ({ page, developer }) => {
  const app = await developer.createApplication('An application whose name is as long as a name may ever be here!');
  const { id } = await make(developer, app.id, {
    channels: [{ kind: 'mail' }, { kind: 'slack', url: 'http://hooks-of-a-long-name.example.com/services/x' }],
  });
  await page.route('**/api/alerts', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['AlertItems'] };
    for (const item of body.data.items ?? []) {
      item.deliveries.givenUp = 3;
      item.state = {
        ...item.state,
        value: 'firing',
        known: true,
        unknownReason: null,
        measured: 61.25,
        since: item.createdAt,
        figures: { ...item.state.figures, calls: 12_345_678, failures: 7_561_728 },
      };
    }
    await route.fulfill({ response: answer, json: body });
  });
  await inEveryLook(
    page,
    async () => {
      await page.goto(`/alerts?alert=${id}`);
      await page.locator('.alert .quiet').nth(2).click();
      await page.locator('.alert-form').waitFor();
    },
    async () => {
      await expectAccessible(page);
      for (const width of [390, 768, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await expectNoSidewaysScroll(page);
      }
    },
  );
});
