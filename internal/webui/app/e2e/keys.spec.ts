import type { Locator, Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { calls } from './log';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, prefer, test, type Developer } from './test';

type Schemas = components['schemas'];

const block = (page: Page): Locator => page.getByRole('region', { name: 'Keys' });
const row = (page: Page, name: string): Locator => block(page).getByRole('row').filter({ hasText: name });
const field = (page: Page, name: string): Locator => block(page).getByRole('form').getByLabel(name, { exact: true });
const make = (developer: Developer, id: string, draft: Schemas['KeyDraft']) =>
  developer.api<Schemas['NewKey']>('POST', `/api/applications/${id}/keys`, draft);
const statusOf = async (developer: Developer, key: string) => (await developer.call(key)).status;

test('a key is added with an end and addresses, shown in full once, and held to both', async ({ page, developer, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id, accessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  await expect(block(page)).toContainText('1 of 5');
  await expect(row(page, 'default').getByRole('cell')).toContainText(['Access Key', 'cg-', 'Never', 'Anywhere', 'Never', 'Edit']);
  await page.getByRole('button', { name: 'Add key' }).click();
  await expect(block(page).getByRole('button', { name: 'Create key' })).toBeDisabled();
  await field(page, 'Name').fill('Batch job');
  await field(page, 'Expires').fill('2090-01-02T03:04');
  await field(page, 'Addresses').fill('127.0.0.0/8\n2001:db8::/32');
  await block(page).getByRole('button', { name: 'Create key' }).click();
  const batch = row(page, 'Batch job');
  await expect(batch).toContainText('2090-01-02 03:04:00'); // Beijing time, wherever the browser is
  await expect(batch).toContainText('2001:db8::/32');
  const secret = (await batch.locator('.key-text').textContent())!;
  expect(secret).toMatch(/^cg-[0-9A-Za-z]{49}$/);
  await expect.poll(() => statusOf(developer, secret)).toBe(200);
  await batch.getByRole('button', { name: 'Hide the key Batch job' }).click();
  await expect(batch.locator('.key-text')).toHaveText(`${secret.slice(0, 7)}…${secret.slice(-4)}`);
  expect(await page.content()).not.toContain(secret);
  const shown = page.waitForResponse((response) => response.url().endsWith('/secret'));
  await batch.getByRole('button', { name: 'Show the key Batch job' }).click();
  expect((await shown).headers()['cache-control']).toContain('no-store');
  await expect(batch.locator('.key-text')).toHaveText(secret);
  await batch.getByRole('button', { name: 'Hide the key Batch job' }).click();
  await batch.getByRole('button', { name: 'Copy the key Batch job' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(secret);

  await page.getByRole('button', { name: 'Edit the key Batch job' }).click();
  await expect(field(page, 'Expires')).toHaveValue('2090-01-02T03:04');
  await field(page, 'Expires').fill('');
  await field(page, 'Addresses').fill('192.0.2.7');
  await page.keyboard.press('Tab');
  await block(page).getByRole('button', { name: 'Save' }).click();
  await expect(batch.getByRole('cell')).toContainText(['Batch job', 'cg-', 'Never', '192.0.2.7/32']);
  await expect.poll(() => statusOf(developer, secret)).toBe(403);
  expect(await statusOf(developer, accessKey)).toBe(200);
});

test('a key has limits of its own, folded until somebody wants them, shown with what is used', async ({ page, developer, expected }) => {
  expected.push(/ 400 /);
  const { id, accessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Add key' }).click();
  await expect(field(page, 'Calls per day')).toBeHidden();
  await block(page).getByText('Limits of this key').click();
  await field(page, 'Name').fill('Batch job');
  await field(page, 'Calls per day').fill('none');
  await block(page).getByText('Limits of this key').click();
  await block(page).getByRole('button', { name: 'Create key' }).click();
  await expect(block(page).getByRole('alert')).toContainText('Must be a whole number'); // folded or not
  await field(page, 'Calls per day').fill('2');
  await block(page).getByRole('button', { name: 'Create key' }).click();
  const batch = row(page, 'Batch job');
  await expect(batch).toContainText('Calls per day');
  const secret = (await batch.locator('.key-text').textContent())!;
  await expect.poll(() => statusOf(developer, secret)).toBe(429);
  expect(await statusOf(developer, accessKey)).toBe(200);
  // A gateway hears of a new limit within a second: a call before that is counted, and was not refused.
  await expect(batch).toContainText(/[2-9] of 2/, { timeout: 40_000 });
  await expect(batch).toContainText('Reached');

  await page.getByRole('button', { name: 'Edit the key Batch job' }).click();
  await expect(field(page, 'Calls per day')).toHaveValue('2');
  await field(page, 'Calls per day').fill('');
  await block(page).getByRole('button', { name: 'Save' }).click();
  await expect(batch).not.toContainText('Calls per day');
  await expect.poll(() => statusOf(developer, secret)).toBe(200);
});

test('a wrong address and a past end are told at their fields', async ({ page, developer, expected }) => {
  expected.push(/ 400 /);
  const { id } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Add key' }).click();
  await field(page, 'Name').fill('k');
  await field(page, 'Expires').fill('2001-01-01T00:00');
  await field(page, 'Addresses').fill('10.0.0.0/8 nowhere');
  await page.getByRole('button', { name: 'Create key' }).click();
  await expect(block(page).getByRole('alert')).toHaveText([/^must be later than now/, /this is neither: nowhere$/]);
  await expect(field(page, 'Expires')).toBeFocused();
  await field(page, 'Expires').press('Escape');
  await expect(block(page).getByRole('form')).toHaveCount(0);
});

test('rotating leaves the old key valid for a day, listed as such, and to be deleted by itself', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the key of Search?' });
  await expect(dialog).toContainText('expires in 24 h');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await expect(dialog).toBeHidden();
  const next = (await page.locator('code.key').textContent())!;
  expect(next).not.toBe(accessKey);
  await expect.poll(() => statusOf(developer, next)).toBe(200);
  expect(await statusOf(developer, accessKey)).toBe(200);
  const old = row(page, 'Expires soon');
  await expect(old).toContainText('Old key');
  await expect(old.locator('.key-text')).toHaveText(`${accessKey.slice(0, 7)}…${accessKey.slice(-4)}`);
  await old.getByRole('button', { name: 'Delete the key default' }).click();
  await page.getByRole('dialog', { name: 'Delete the key default?' }).getByRole('button', { name: 'Delete' }).click();
  await expect(block(page)).toContainText('1 of 5');
  await expect.poll(() => statusOf(developer, accessKey), { timeout: 4_000 }).toBe(401);
  expect(await statusOf(developer, next)).toBe(200);
});

test('a sixth key is refused with what to do, and one that somebody else changed meanwhile is shown as it is', async ({
  page,
  developer,
  expected,
}) => {
  expected.push(/ 409 /);
  const { id } = await developer.createApplication('Search');
  const made = [];
  for (const name of ['one', 'two', 'three', 'four']) made.push(await make(developer, id, { name }));
  await page.goto(`/applications/${id}?tab=keys`);
  await expect(block(page)).toContainText('5 of 5');
  await page.getByRole('button', { name: 'Add key' }).click();
  await field(page, 'Name').fill('five');
  await page.getByRole('button', { name: 'Create key' }).click();
  await expect(block(page).getByRole('alert')).toContainText('none has expired; delete one that is not needed');
  await block(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Edit the key one' }).click();
  await developer.api('PATCH', `/api/applications/${id}/keys/${made[0]!.id}`, { name: 'first of all' });
  await field(page, 'Name').fill('mine');
  await block(page).getByRole('button', { name: 'Save' }).click();
  await expect(block(page).getByRole('alert')).toContainText('Somebody else has changed this key meanwhile');
  await expect(field(page, 'Name')).toHaveValue('first of all');
  await field(page, 'Name').fill('mine');
  await block(page).getByRole('button', { name: 'Save' }).click();
  await expect(row(page, 'mine')).toBeVisible();
});

test('a call names its key, and one that was refused for its key leads to the keys', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  const far = await make(developer, id, { name: 'Far away', allowedCidrs: ['192.0.2.7'] });
  expect(await statusOf(developer, accessKey)).toBe(200);
  expect(await statusOf(developer, far.accessKey)).toBe(403);
  await developer.counted(2);
  await page.goto(`/applications/${id}?tab=keys`);
  await expect(row(page, 'default').getByRole('cell').nth(4)).toHaveText(/20\d\d-/); // when it was used last
  await page.getByRole('button', { name: 'Call log' }).click();
  await page.getByRole('row').filter({ hasText: 'Success' }).getByRole('button').click();
  const facts = page.locator('.call-facts');
  await expect(facts).toContainText('default');
  await page.getByRole('row').filter({ hasText: 'Failed' }).getByRole('button').click();
  await expect(page.getByRole('region', { name: 'Failure detail' }).locator('.call-facts')).toContainText('Far away');
  await expect(page.getByRole('group', { name: 'Reason' })).toContainText('The key may not be used from the address the call came from');
  await page.getByRole('link', { name: 'Keys of the application' }).click();
  await expect(block(page)).toBeInViewport();
});

test('the keys pass axe and fit every width in both languages and themes', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search');
  await make(developer, id, {
    name: 'w'.repeat(64),
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    allowedCidrs: ['2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff', '10.0.0.0/8', '192.0.2.7', '198.51.100.0/24'],
    limits: { requestsPerMinute: 1e12, tokensPerMinute: 1e12, concurrency: 1e12, callsPerDay: 1e12, tokensPerDay: 1e12 },
  });
  for (const width of [390, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/applications/${id}?tab=keys`);
    await page.getByRole('button', { name: 'Add key' }).click();
    await expect(row(page, 'w'.repeat(64))).toBeVisible();
    await block(page).getByText('Limits of this key').click();
    await expectNoSidewaysScroll(page);
  }
  await inEveryLook(
    page,
    () => expect(page.locator('#keys tbody tr')).toHaveCount(2),
    () => expectAccessible(page, '#keys'),
  );
  await prefer(page, 'zh-CN');
  await page.goto(`/applications/${id}?tab=keys`);
  await expect(page.getByRole('region', { name: '密钥' })).toContainText('最近使用');
});

test('figures by key lead to exactly the calls of each, a deleted one’s too', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  const batch = await make(developer, id, { name: 'Batch job' });
  const old = await make(developer, id, { name: 'Old' });
  await developer.calls(accessKey, 2);
  await developer.calls(batch.accessKey, 3);
  await developer.call(batch.accessKey, { model: 'demo-error-500' });
  await developer.call(old.accessKey);
  await developer.counted(7);
  await developer.api('DELETE', `/api/applications/${id}/keys/${old.id}`);
  const byKey = page.getByRole('region', { name: 'By key' });
  const rows = byKey.locator('tbody tr');
  await page.goto(`/applications/${id}?range=30d`);
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(0)).toContainText(/Batch job\s*4\s*75/);
  await expect(rows.nth(1)).toContainText(/default.*Access Key.*2/s);
  await expect(rows.nth(2)).toContainText('not there any more');
  await rows.nth(0).getByRole('link', { name: 'Batch job' }).click();
  await expect(page).toHaveURL(`/applications/${id}/calls?range=30d&key=${batch.id}`);
  await expect(calls(page)).toHaveCount(4);
  await page.getByRole('search').getByLabel('Key', { exact: true }).selectOption({ label: 'default' });
  await expect(calls(page)).toHaveCount(2);
  await page.goto(`/applications/${id}/calls?key=${old.id}`);
  await expect(calls(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(calls(page)).toHaveCount(7);

  for (const path of [`/applications/${id}`, `/applications/${id}/calls?key=${old.id}`]) {
    await page.goto(path);
    await inEveryLook(
      page,
      () => expect(path.includes('calls') ? calls(page).first() : page.locator('h1')).toBeVisible(),
      async () => {
        await expectAccessible(page);
        for (const width of [375, 768, 1280, 1920]) {
          await page.setViewportSize({ width, height: 900 });
          await expectNoSidewaysScroll(page);
        }
      },
    );
  }
});

test('an application with one key has no figures by key', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await developer.call(accessKey);
  await developer.counted(1);
  const answered = page.waitForResponse((response) => response.url().includes('/keys?start='));
  await page.goto(`/applications/${id}`);
  await answered;
  await expect(page.getByRole('region', { name: 'By capability' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'By key' })).toHaveCount(0);
  await page.goto(`/applications/${id}/calls`);
  await expect(calls(page)).toHaveCount(1);
  await expect(page.getByRole('search').getByLabel('Key', { exact: true })).toHaveCount(0);
});
