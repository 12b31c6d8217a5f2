import type { Locator, Page } from '@playwright/test';
import { duration } from '../src/format/format';
import { addDays, dayOf } from '../src/range/days';
import { Journey } from './journey';
import { box, held, shape } from './shape';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, Developer, type NewApplication } from './test';

const today = () => dayOf(Date.now());
const row = (page: Page, name: string): Locator => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const figures = (page: Page, name: string): Locator => row(page, name).locator('td.right');
const more = async (page: Page, name: string, command: string) => {
  await page.getByRole('button', { name: `More actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: command, exact: true }).click();
};
const many = async (developer: Developer, n: number) => {
  for (let made = 1; made <= n; made++) await developer.createApplication(`Application ${String(made).padStart(2, '0')}`, []);
};

test('each application shows the figures of its own calls, and a dash where it had none', async ({ page, developer }) => {
  const [busy, failing, quiet] = [
    await developer.createApplication('Busy'),
    await developer.createApplication('Failing', [CHAT]),
    await developer.createApplication('Quiet'),
  ];
  await developer.calls(busy.accessKey, 3);
  await developer.calls(failing.accessKey, 2);
  await developer.calls(failing.accessKey, 1, { model: 'demo-error-429' });
  await developer.call(failing.accessKey, { capability: CLAUDE, path: '/v1/messages' }); // not bound
  await developer.counted(7);
  await page.goto('/applications');
  const time = async (id: string) => duration((await developer.statistics(id)).summary.avgDurationMs, 'en');
  await expect(figures(page, 'Busy')).toHaveText(['3', '100.00%', '0', await time(busy.id)]);
  await expect(figures(page, 'Failing')).toHaveText(['4', '50.00%', '2', await time(failing.id)]);
  await expect(figures(page, 'Quiet')).toHaveText(['0', '—', '0', '—']);
  await expect(page.locator('tbody tr td:first-child a')).toHaveText(['Quiet', 'Failing', 'Busy']);
  await expect(page.getByText('3 applications', { exact: true })).toBeVisible();
  await expect(page.getByText(/^Complete through \d\d:\d\d:\d\d$/)).toBeVisible();
  for (const { name, maskedAccessKey, accessKey } of [busy, failing, quiet]) {
    await expect(row(page, name)).toContainText(maskedAccessKey);
    expect(await page.content()).not.toContain(accessKey);
  }
});

test('the list has its shape before it is read, so that nothing jumps', async ({ page, developer }) => {
  await many(developer, 10);
  const arrive = await held(page, /\/api\/statistics\/applications\?/);
  await page.goto('/applications');
  const list = page.getByRole('region', { name: 'Applications' });
  await expect(list.getByRole('status', { name: 'Loading' })).toBeVisible();
  const before = [await shape(list.locator('table')), await box(list)];
  arrive();
  await expect(page.getByRole('link', { name: 'Application 10' })).toBeVisible();
  expect([await shape(list.locator('table')), await box(list)]).toEqual(before);
});

test('yesterday does not show the calls of today', async ({ page, developer }) => {
  const { accessKey } = await developer.createApplication('Search');
  await developer.calls(accessKey, 2);
  await developer.counted(2);
  const yesterday = addDays(today(), -1);
  await page.goto(`/applications?start=${yesterday}&end=${yesterday}`);
  await expect(figures(page, 'Search')).toHaveText(['—', '—', '—', '—']);
  await page.keyboard.press('w');
  await expect(page).toHaveURL('/applications');
  await expect(figures(page, 'Search').first()).toHaveText('2');
});

test('ten applications stand on a page; page and range are kept in the URL', async ({ page, developer }) => {
  await many(developer, 12);
  await page.goto('/applications');
  await expect(page.locator('tbody tr')).toHaveCount(10);
  await expect(page.locator('tbody tr').first()).toContainText('Application 12');
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page).toHaveURL('/applications?page=2');
  await expect(page.locator('tbody tr')).toHaveCount(2);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Page 2 of 2' })).toHaveAttribute('aria-current', 'page');
  await expect(page.locator('tbody tr')).toContainText(['Application 02', 'Application 01']);
  await page.getByRole('button', { name: 'Last 30 days' }).click(); // a new range begins at page 1
  await expect(page).toHaveURL('/applications?range=30d');
  await expect(page.locator('tbody tr')).toHaveCount(10);
  await page.goBack();
  await expect(page).toHaveURL('/applications?page=2');
});

test('journeys: the one of a hundred applications with most failures, by the overview and by the list', async ({ page, developer }) => {
  const apps: NewApplication[] = [];
  for (let n = 0; n < 100; n++) apps.push(await developer.createApplication(`Application ${n}`, [CHAT]));
  const worst = apps[27]!;
  for (let n = 4; n < 100; n += 8) await developer.calls(apps[n]!.accessKey, 2, n % 3 === 0 ? { model: 'demo-error-500' } : {});
  await developer.calls(worst.accessKey, 6);
  await developer.calls(worst.accessKey, 12, { model: 'demo-error-429' });
  await developer.counted(12 * 2 + 18);

  await page.goto('/');
  const byOverview = new Journey(page, 'overview → the one of 100 with most failures → its calls');
  await byOverview.click(page.getByRole('link', { name: /^Upstream answered 429 · .* · Application 27$/ }));
  await expect(page.locator('.calls-table tr.call')).toHaveCount(10); // of 12
  expect(byOverview.done()).toMatchObject({ clicks: 1, keys: 0 });

  await page.goto('/applications');
  const byList = new Journey(page, 'list → the one of 100 with most failures');
  await byList.choose(page.getByLabel('Order'), 'Most failures');
  const first = page.locator('tbody tr').first();
  await expect(first).toContainText('Application 27');
  expect(byList.done()).toMatchObject({ clicks: 2, keys: 0 });
  await expect(first).toContainText('Failing'); // which no colour alone says
});

test('a page past the end says so and leads to the last one; what is no page becomes page 1', async ({ page, developer }) => {
  await many(developer, 12);
  await page.goto('/applications?page=9');
  await expect(page.getByText('Nothing on page 9')).toBeVisible();
  await page.getByRole('button', { name: 'Go to page 2' }).click();
  await expect(page).toHaveURL('/applications?page=2');
  await expect(page.locator('tbody tr')).toHaveCount(2);
  await page.goto('/applications?page=x');
  await expect(page).toHaveURL('/applications');
  await expect(page.getByText('The page number in the link is not valid; this is page 1.')).toBeVisible();
});

test('the range goes along from the list to an application and back', async ({ page, developer }) => {
  await developer.createApplication('Search');
  await page.goto('/applications?range=30d');
  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await expect(page).toHaveURL(/\/applications\/[0-9a-f-]{36}\?range=30d$/);
  await page.getByRole('link', { name: 'All applications' }).click();
  await expect(page).toHaveURL('/applications?range=30d');
});

test('without an application the list offers to create one', async ({ page, developer }) => {
  void developer;
  await page.goto('/applications');
  await expect(page.getByText('There is no application yet.')).toBeVisible();
  await page.locator('.empty').getByRole('button', { name: 'New application' }).click();
  await expect(page.getByRole('dialog', { name: 'New application' })).toBeVisible();
});

test('the call log opens over the list from its row, and is no part of the URL', async ({ page, developer }) => {
  const { accessKey } = await developer.createApplication('Search');
  await developer.createApplication('Quiet');
  await developer.calls(accessKey, 2);
  await developer.counted(2);
  await page.goto('/applications?range=30d');
  await page.getByRole('button', { name: 'Call log of Search' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Search');
  await expect(dialog.locator('tbody tr')).toHaveCount(2);
  await expect(page).toHaveURL('/applications?range=30d');
  await page.goBack();
  await expect(dialog).toHaveCount(0);
  await expect(page).toHaveURL('/applications?range=30d');
});

test('disabling asks, is seen at once, and refuses calls; enabling takes no question', async ({ page, developer }) => {
  const { accessKey } = await developer.createApplication('Search');
  await page.goto('/applications');
  await more(page, 'Search', 'Disable');
  const dialog = page.getByRole('dialog', { name: 'Disable Search?' });
  await expect(dialog).toContainText('New calls get 403; they are still recorded');
  await expectAccessible(page, '[role=dialog]');
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await expect(dialog).toBeHidden();
  await expect(row(page, 'Search')).toContainText('Disabled');
  await expect.poll(async () => (await developer.call(accessKey)).status).toBe(403);
  await more(page, 'Search', 'Enable');
  await expect(row(page, 'Search')).not.toContainText('Disabled');
  await expect.poll(async () => (await developer.call(accessKey)).status).toBe(200);
});

test('a refused switch is taken back and told', async ({ page, developer, expected }) => {
  expected.push(/\/status .*503/);
  const { id } = await developer.createApplication('Search');
  await developer.api('PATCH', `/api/applications/${id}/status`, { status: 'disabled' });
  await page.goto('/applications');
  await expect(row(page, 'Search')).toContainText('Disabled');
  await page.route('**/status', (route) =>
    route.fulfill({ status: 503, json: { code: 50301, msg: 'a store is unavailable', data: null } }),
  );
  await more(page, 'Search', 'Enable');
  await expect(page.getByText('A store is unavailable for now.')).toBeVisible();
  await expect(row(page, 'Search')).toContainText('Disabled');
});

test('an application is deleted only by typing its name; its calls and its key go with it', async ({ page, developer }) => {
  const { accessKey } = await developer.createApplication('Search');
  await developer.createApplication('Chat');
  await developer.call(accessKey);
  await developer.counted(1);
  await page.goto('/applications');
  await more(page, 'Search', 'Delete');
  const dialog = page.getByRole('dialog', { name: 'Delete Search?' });
  const button = dialog.getByRole('button', { name: 'Delete' });
  await expect(button).toBeDisabled();
  await dialog.getByLabel('Enter the name Search to confirm').fill('search');
  await expect(button).toBeDisabled();
  await dialog.getByLabel('Enter the name Search to confirm').fill('Search');
  await expectAccessible(page, '[role=dialog]');
  await button.click();
  await expect(dialog).toBeHidden();
  await expect(page.locator('tbody tr')).toHaveCount(1);
  await expect(page.locator('tbody tr')).toContainText('Chat');
  await expect.poll(async () => (await developer.call(accessKey)).status).toBe(401);
  await developer.counted(0);
});

test('deleting the last application of a page leads to the page before', async ({ page, developer }) => {
  await many(developer, 11);
  await page.goto('/applications?page=2');
  await more(page, 'Application 01', 'Delete');
  await page.getByLabel('Enter the name Application 01 to confirm').fill('Application 01');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL('/applications');
  await expect(page.locator('tbody tr')).toHaveCount(10);
});

test('the heads of the list order all pages of it', async ({ page, developer }) => {
  const quiet = await developer.createApplication('Quiet');
  const busy = await developer.createApplication('Busy');
  await developer.calls(busy.accessKey, 2);
  await developer.call(quiet.accessKey);
  await developer.counted(3);
  const head = (name: string) => page.getByRole('columnheader', { name });
  await page.goto('/applications');
  await head('Name').getByRole('button').press('Enter');
  await expect(page).toHaveURL('/applications?sort=name');
  await expect(head('Name')).toHaveAttribute('aria-sort', 'ascending');
  await expect(page.locator('.application-name')).toHaveText([/Busy/, /Quiet/]);
  await head('Calls').getByRole('button').click();
  await expect(page).toHaveURL('/applications?sort=calls');
  await expect(page.getByLabel('Order')).toHaveValue('calls');
  await expect(head('Calls')).toHaveAttribute('aria-sort', 'descending');
});

test('applications of others are neither listed nor opened', async ({ page, developer, browser, baseURL, expected }) => {
  expected.push(/ 404 /);
  void developer;
  const context = await browser.newContext();
  const other = new Developer(context.request, baseURL!);
  await other.signIn();
  const { id } = await other.createApplication('Theirs');
  await context.close();
  await page.goto('/applications');
  await expect(page.getByText('There is no application yet.')).toBeVisible();
  await page.goto(`/applications/${id}`);
  await expect(page.getByText('There is no such application, or it is not yours.')).toBeVisible();
});

test('the list is accessible in both themes and languages, and has cards on a phone', async ({ page, developer }) => {
  const { accessKey } = await developer.createApplication('Search');
  const { id } = await developer.createApplication('A rather long name of an application that is disabled', []);
  await developer.api('PATCH', `/api/applications/${id}/status`, { status: 'disabled' });
  await developer.calls(accessKey, 3);
  await developer.counted(3);
  await page.goto('/applications');
  const ready = () => expect(page.getByRole('link', { name: 'Search', exact: true })).toBeVisible();
  await inEveryLook(page, ready, () => expectAccessible(page));
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.locator('.cards li').filter({ hasText: 'Search' }).locator('dd')).toHaveText(['3', '100.00%', '0', /ms|s/]);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});
