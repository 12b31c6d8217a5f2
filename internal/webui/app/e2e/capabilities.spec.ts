import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { duration, rate } from '../src/format/format';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, prefer, test, type Administrator } from './test';

type Schemas = components['schemas'];

/** A group of its own with two capabilities, the second one first in order. */
async function catalog(administrator: Administrator) {
  const mark = randomUUID().slice(0, 8);
  const group = `g-${mark}`;
  await administrator.api('POST', '/api/admin/groups', { id: group, name: `Group ${mark}`, sortOrder: 1000 });
  const make = (id: string, name: string, sortOrder: number) =>
    administrator.api('POST', '/api/admin/capabilities', {
      id,
      name,
      groupId: group,
      sortOrder,
      description: `About ${name}`,
      upstreamBaseUrl: 'http://127.0.0.1:9',
      upstreamKey: 'upstream-key',
      upstreamModel: 'served-model',
      defaultPath: '/v1/chat/completions',
    });
  await make(`late-${mark}`, `Late ${mark}`, 2);
  await make(`early-${mark}`, `Early ${mark}`, 1);
  return { mark, group, late: `late-${mark}`, early: `early-${mark}` };
}

const row = (page: Page, id: string) => page.getByRole('row').filter({ has: page.getByText(id, { exact: true }) });

test('capabilities stand under their groups in order, and a search in the URL narrows them', async ({
  page,
  administrator,
  developer,
  context,
}) => {
  void developer;
  const { mark, early, late } = await catalog(administrator);
  await page.goto('/capabilities');
  const rows = page.locator('tbody tr').filter({ hasText: mark });
  await expect(rows).toHaveText([
    `Group ${mark}`,
    new RegExp(`^Early ${mark}${early}.*About Early`),
    new RegExp(`^Late ${mark}${late}.*About Late`),
  ]);
  await page.keyboard.press('/');
  await page.keyboard.type(`late ${mark}`);
  await expect(page).toHaveURL(`/capabilities?q=late+${mark}`);
  await expect(rows).toHaveCount(2); // its group's heading, too
  await page.reload();
  await expect(page.getByRole('searchbox')).toHaveValue(`late ${mark}`);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: `Copy identifier ${late}` }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(late);
  await page.getByRole('searchbox').fill('no such thing');
  await expect(page.getByText('No capability matches “no such thing”.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear search' }).click();
  await expect(page).toHaveURL('/capabilities');
});

for (const width of [390, 1440])
  for (const language of ['en', 'zh-CN'] as const)
    test(`each capability tells its price, the own calls of 7 days and the own applications at ${width} px in ${language}`, async ({
      page,
      administrator,
      developer,
    }) => {
      const { early, late } = await catalog(administrator);
      const price = { capabilityId: early, currency: 'CNY', input: '0.000000000001', output: '123456789.000000000001' };
      await administrator.api('PUT', '/api/admin/prices', { ...price, from: '2026-01-01' });
      await administrator.api('PUT', '/api/admin/prices', { ...price, input: '2', fromBand: 200_000, from: '2026-01-01' });
      await developer.createApplication('Second', [CHAT, early]);
      const app = await developer.createApplication('First', [CHAT, early]);
      await developer.calls(app.accessKey, 3);
      await developer.calls(app.accessKey, 2, { model: 'demo-error-500' });
      await developer.call(app.accessKey, { capability: early });
      const { models } = await developer.counted(6);
      await page.setViewportSize({ width, height: 900 });
      await prefer(page, language);
      await page.goto('/capabilities');
      const zh = language !== 'en';
      for (const id of [CHAT, early, late]) {
        const one = await developer.api<Schemas['CapabilityDetails']>('GET', `/api/capabilities/${id}`);
        const usage = models.find(({ model }) => model === id);
        const cells = row(page, id).getByRole('cell');
        const cell = (n: number) => (width === 390 ? row(page, id).locator('td').nth(n) : cells.nth(n));
        await expect(cell(1)).toContainText(one.price === null ? '—' : `${one.price.currency} ${one.price.input}`);
        await expect(cell(2)).toContainText(one.price === null ? '—' : `${one.price.currency} ${one.price.output}`);
        await expect(cell(3)).toContainText(String(usage?.calls ?? 0));
        await expect(cell(4)).toContainText(rate(usage?.successes ?? 0, usage?.calls ?? 0));
        await expect(cell(5)).toContainText(duration(usage?.p95Ms, language));
        await expect(cell(6)).toContainText(String(one.applicationCount));
      }
      await expect(row(page, early).getByText(zh ? '还有其他价格' : 'and more')).toBeVisible();
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      await page.getByRole('button', { name: zh ? /^我的（/ : /^Mine/ }).click();
      await expect(page).toHaveURL('/capabilities?mine=1');
      await expect(row(page, late)).toHaveCount(0);
      await expect(row(page, early)).toBeVisible();
      await row(page, CHAT)
        .getByRole('link', { name: zh ? /的调用/ : /^Calls of/ })
        .click();
      await expect(page).toHaveURL(`/calls?model=${CHAT}`);
      await expect(page.locator('tbody tr, .cards li').first()).toBeAttached();

      await page.goto(`/capabilities/${early}`);
      const prices = page.getByRole('region', { name: zh ? '今日价格' : 'Price today' });
      for (const amount of ['0.000000000001', 'CNY 2', '123456789.000000000001', '200,000']) await expect(prices).toContainText(amount);
      const figures = page.getByRole('region', { name: zh ? '我最近 7 天的调用' : 'My calls, last 7 days' });
      await expect(figures.locator('.tile strong')).toHaveText(['1', '0.00%', '1', /./]);
      await expect(figures.getByRole('link', { name: zh ? '按应用探索' : 'Explore by application' })).toHaveAttribute(
        'href',
        `/explore?by=application&model=${early}`,
      );
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
    });

test('a column orders all capabilities without their groups, and the URL has it', async ({ page, administrator, developer }) => {
  const { mark, early, late } = await catalog(administrator);
  for (const [capabilityId, input] of [
    [early, '9'],
    [late, '10'],
  ])
    await administrator.api('PUT', '/api/admin/prices', { capabilityId, from: '2026-01-01', currency: 'CHF', input, output: '1' });
  void developer;
  await page.goto(`/capabilities?q=${mark}`);
  const ids = page.locator('tbody code');
  await expect(ids).toHaveText([early, late]);
  await page.getByRole('button', { name: 'Input price' }).click();
  await expect(ids).toHaveText([late, early]);
  await expect(page.getByRole('columnheader', { name: 'Input price' })).toHaveAttribute('aria-sort', 'descending');
  await expect(page.getByRole('heading', { name: `Group ${mark}` })).toHaveCount(0);
  await page.getByRole('button', { name: 'Input price' }).click();
  await expect(page).toHaveURL(`/capabilities?q=${mark}&sort=-input`);
  await expect(ids).toHaveText([early, late]);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('combobox', { name: 'Order' }).selectOption('In the catalog’s order');
  await expect(page.getByRole('heading', { name: `Group ${mark}` })).toBeVisible();
});

test('a disabled capability leaves the list; its page says so and offers no try', async ({ page, administrator, developer }) => {
  void developer;
  const { mark, early } = await catalog(administrator);
  await administrator.api('PATCH', `/api/admin/capabilities/${early}/status`, { status: 'disabled' });
  await page.goto('/capabilities');
  await expect(row(page, `late-${mark}`)).toHaveCount(1);
  await expect(row(page, early)).toHaveCount(0);
  await page.goto(`/capabilities/${early}?tab=try`);
  await expect(page.getByText('An administrator disabled this capability')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Details' })).toBeVisible(); // in the place of a try
  await expect(page.getByRole('button', { name: 'Try it' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Send' })).toHaveCount(0);
});

test('the details say how to call, and binding is one click that calls obey', async ({ page, developer, baseURL }) => {
  const bound = await developer.createApplication('Has it', [CHAT]);
  const open = await developer.createApplication('Lacks it', []);
  expect((await developer.call(open.accessKey)).status).toBe(403);
  await page.goto(`/capabilities/${CHAT}`);
  await expect(page.getByRole('heading', { name: 'Demo chat' })).toBeVisible();
  const fact = (name: string) => page.locator('.facts dt', { hasText: name }).locator('+ dd');
  await expect(fact('Address to call')).toContainText(`${baseURL}/gateway/v1/chat/completions?model=${CHAT}`);
  await expect(fact('Model in the body')).toContainText('demo');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await expect(row('Has it')).toContainText('Has access');
  await expect(row('Has it').getByRole('link')).toHaveAttribute('href', `/applications/${bound.id}`);
  await page.getByRole('button', { name: 'Grant access to Lacks it' }).click();
  await expect(row('Lacks it')).toContainText('Has access');
  await expect.poll(async () => (await developer.call(open.accessKey)).status, { timeout: 10_000, intervals: [50] }).toBe(200);
  expect((await developer.api<{ capabilityIds: string[] }>('GET', `/api/applications/${open.id}`)).capabilityIds).toEqual([CHAT]);
});

test('a binding that fails is taken back and said', async ({ page, developer, expected }) => {
  expected.push(/ 503 /);
  await developer.createApplication('Lacks it', []);
  await page.route('**/api/applications/*/capabilities/*', (route) =>
    route.fulfill({ status: 503, json: { code: 50301, msg: 'down', data: null } }),
  );
  await page.goto(`/capabilities/${CHAT}`);
  await page.getByRole('button', { name: 'Grant access to Lacks it' }).click();
  await expect(page.getByRole('status').getByText('A store is unavailable for now.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Grant access to Lacks it' })).toBeVisible();
});

test('without an application the way to one is shown', async ({ page, developer }) => {
  void developer;
  await page.goto(`/capabilities/${CHAT}`);
  await expect(page.getByRole('link', { name: 'New application' })).toHaveAttribute('href', '/applications?new');
  await page.getByRole('button', { name: 'Try it' }).click();
  await expect(page).toHaveURL(`/capabilities/${CHAT}?tab=try`);
  await expect(page.getByRole('link', { name: 'New application' })).toHaveAttribute('href', '/applications?new');
});

test('a capability that does not exist says so', async ({ page, developer, expected }) => {
  expected.push(/ 404 /);
  void developer;
  await page.goto('/capabilities/nothing');
  await expect(page.getByRole('alert')).toContainText('It does not exist, or is not yours.');
});

test('the pages of capabilities are accessible in both themes and languages, and fit a phone', async ({ page, developer }) => {
  await developer.createApplication('Has it', [CHAT]);
  await developer.createApplication('Lacks it', []);
  const pages = [
    ['/capabilities', () => expect(page.getByText('Demo messages')).toBeVisible()],
    [`/capabilities/${CLAUDE}`, () => expect(page.getByText('Lacks it')).toBeVisible()],
    [`/capabilities/${CHAT}?tab=try`, () => expect(page.getByRole('combobox')).toBeVisible()],
  ] as const;
  for (const [path, ready] of pages) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(path);
    await inEveryLook(page, ready, () => expectAccessible(page));
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
  }
});
