import { randomUUID } from 'node:crypto';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Administrator } from './test';

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

test('capabilities stand under their groups in order, and a search in the URL narrows them', async ({
  page,
  administrator,
  developer,
  context,
}) => {
  void developer;
  const { mark, early, late } = await catalog(administrator);
  await page.goto('/capabilities');
  const group = page.getByRole('region', { name: `Group ${mark}` });
  await expect(group.getByRole('listitem')).toHaveText([
    new RegExp(`^Early ${mark}${early}.*About Early`),
    new RegExp(`^Late ${mark}${late}.*About Late`),
  ]);
  await page.keyboard.press('/');
  await page.keyboard.type(`late ${mark}`);
  await expect(page).toHaveURL(`/capabilities?q=late+${mark}`);
  await expect(page.getByRole('listitem')).toHaveCount(1);
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

test('a disabled capability leaves the list; its page says so and offers no try', async ({ page, administrator, developer }) => {
  void developer;
  const { mark, early } = await catalog(administrator);
  await administrator.api('PATCH', `/api/admin/capabilities/${early}/status`, { status: 'disabled' });
  await page.goto('/capabilities');
  await expect(page.getByRole('region', { name: `Group ${mark}` }).getByRole('listitem')).toHaveCount(1);
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
