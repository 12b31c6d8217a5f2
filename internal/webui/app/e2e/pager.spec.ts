import type { Locator, Page } from '@playwright/test';
import { calls, listed, openLog } from './log';
import { expect, expectAccessible, test, type Developer, type NewApplication } from './test';

const ids = (page: Page) =>
  calls(page)
    .locator('[data-call]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-call')!));
const next = (drawer: Locator) => drawer.getByRole('button', { name: 'Next page' });
/** The call whose row has the focus, else what has it. */
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('data-call') ?? document.activeElement?.outerHTML.slice(0, 300));
const current = (drawer: Locator) => drawer.locator('.pages [aria-current=page]').locator('visible=true');

/** Makes calls; returns their ids, newest first. */
async function made(developer: Developer, app: NewApplication, n: number): Promise<string[]> {
  const all: string[] = [];
  for (let at = 0; at < n; at++) all.unshift((await developer.call(app.accessKey)).callId);
  return all;
}

/** The rows of the pages from here to the last, once each page is there. */
async function turned(page: Page, drawer: Locator): Promise<string[]> {
  const all = await ids(page);
  for (let n = 2; (await next(drawer).getAttribute('aria-disabled')) !== 'true' && (await next(drawer).isEnabled()); n++) {
    await next(drawer).click();
    await expect(
      drawer
        .getByRole('button', { name: new RegExp(`^Page ${n} of`) })
        .or(drawer.getByText(new RegExp(`^Page ${n} of`)))
        .locator('visible=true'),
    ).toBeVisible();
    await expect(drawer.locator('.content[data-stale=false]').first()).toBeVisible();
    all.push(...(await ids(page)));
  }
  return all;
}

test('calls that arrive while pages are turned repeat no row and leave none out', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const before = await made(developer, app, 22);
  await developer.counted(22);
  const first = await listed(developer, app, before);
  const drawer = await openLog(page, app);
  await expect(calls(page)).toHaveCount(10);
  await calls(page).first().hover(); // who reads is not disturbed
  await made(developer, app, 5);
  await expect(drawer.getByRole('button', { name: '5 new calls ↑' })).toBeVisible({ timeout: 20_000 });
  expect(await turned(page, drawer)).toEqual(first);
  await expect(page).toHaveURL(`/applications/${app.id}`); // nothing of it is in the URL
});

test('each page but the first asks as of the instant of the list; a new filter and page 1 begin a new one', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await made(developer, app, 31);
  await developer.counted(31);
  const asked: { page: string | null; until: string | null }[] = [];
  const answered: string[] = [];
  await page.route(/\/calls\?/, async (route) => {
    const search = new URL(route.request().url()).searchParams;
    asked.push({ page: search.get('page'), until: search.get('until') });
    const response = await route.fetch();
    answered.push(((await response.json()) as { data: { until: string } }).data.until);
    await route.fulfill({ response });
  });
  const drawer = await openLog(page, app);
  await expect(drawer.locator('.pages li').locator('visible=true')).toHaveText(['1', '2', '3', '4']);
  await drawer.getByRole('button', { name: 'Page 2', exact: true }).click();
  await expect(current(drawer)).toHaveText('2');
  await expect.poll(() => asked.at(-1)!.page).toBe('2');
  const { until } = asked.at(-1)!;
  expect(answered).toContain(until);
  await drawer.getByRole('button', { name: 'Page 4', exact: true }).click();
  await expect(current(drawer)).toHaveText('4');
  await expect(calls(page)).toHaveCount(1);
  expect(asked.at(-1)).toEqual({ page: '4', until });
  await drawer.getByRole('button', { name: 'Page 1', exact: true }).click();
  await expect(calls(page)).toHaveCount(10);
  expect(asked.at(-1)).toEqual({ page: '1', until: null });
  await expect(drawer.getByText('Live', { exact: true })).toBeVisible();
  await drawer.getByRole('button', { name: 'Page 2', exact: true }).click();
  await expect(current(drawer)).toHaveText('2');
  await drawer.getByRole('button', { name: /^Failures/ }).click();
  await expect(calls(page)).toHaveCount(0);
  expect(asked.filter((one) => one.page === '1' && one.until !== null)).toEqual([]);
});

test('a time of day leads to the page and the row of the newest call by then', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const early = await made(developer, app, 12);
  const second = Math.floor(Date.now() / 1000);
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(second); // what follows is of a later second
  await made(developer, app, 15);
  await developer.counted(27);
  const drawer = await openLog(page, app);
  await expect(calls(page)).toHaveCount(10);
  const field = drawer.getByLabel('Go to time');
  const go = async (instant: number) => {
    await field.fill(new Date(instant * 1000 + 8 * 3_600_000).toISOString().slice(11, 19));
    await field.press('Enter');
  };
  await go(second);
  await expect(current(drawer)).toHaveText('2');
  await expect.poll(() => focused(page)).toBe(early[0]);
  await expect(page).toHaveURL(`/applications/${app.id}`);
  await field.fill('0:00'); // before the first call: the last page
  await drawer.getByRole('button', { name: 'Go', exact: true }).click();
  await expect(current(drawer)).toHaveText('3');
  await field.fill('23:59:59'); // not an hour later: that is before the first call when the test runs in the day's last hour
  await field.press('Enter');
  await expect(current(drawer)).toHaveText('1');
  await field.fill('25:99');
  await field.press('Enter');
  await expect(drawer.getByText('Write a time such as 14:03 or 14:03:22, Beijing time.')).toBeVisible();
  await expect(field).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(page, '[role=dialog]');
});

test('many pages are reached by few numbers, on a phone too', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey);
  await developer.counted(1);
  await page.route(/\/calls\?/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { total: number; items: object[] } };
    body.data.total = 12_345_678;
    await route.fulfill({ response: answer, json: body });
  });
  const drawer = await openLog(page, app);
  const numbers = drawer.locator('.pages li').locator('visible=true');
  await expect(numbers).toHaveText(['1', '2', '…', '1,234,568']);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(numbers).toHaveText(['1', '…', '1,234,568']);
  await drawer.getByRole('button', { name: 'Page 1,234,568', exact: true }).click();
  await expect(numbers).toHaveText(['1', '…', '1,234,568']);
  await expect(next(drawer)).toBeDisabled();
  await expect(drawer.getByText('Nothing on page 1234568')).toBeVisible();
});
