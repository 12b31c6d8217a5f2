import type { Page } from '@playwright/test';
import { clockOf, dayOf } from '../src/range/days';
import { Journey } from './journey';
import { calls, verdict } from './log';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Developer, type NewApplication } from './test';

const today = () => dayOf(Date.now());
const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const facet = (page: Page, name: string) => page.getByRole('group', { name: `Calls by: ${name}` });

/** Eight calls of one application and five of another, of which two failed. */
async function withTwo(developer: Developer): Promise<{ search: NewApplication; ads: NewApplication; failed: string[] }> {
  const [search, ads] = [await developer.createApplication('Search'), await developer.createApplication('Ads')];
  await developer.calls(search.accessKey, 7);
  const failed = [(await developer.call(search.accessKey, { model: 'demo-error-500' })).callId];
  await developer.calls(ads.accessKey, 3);
  for (const status of [429, 500]) failed.unshift((await developer.call(ads.accessKey, { model: `demo-error-${status}` })).callId);
  await developer.counted(13);
  return { search, ads, failed };
}

test('journey: who failed in an hour, over all applications', async ({ page, developer }) => {
  const { failed } = await withTwo(developer);
  const hour = Number(clockOf(Date.now()).slice(0, 2));
  const clock = (n: number) => `${String(n).padStart(2, '0')}:00`;
  await page.goto(`/?start=${today()}&end=${today()}`); // where a click on the day leads
  const journey = new Journey(page, 'who failed in an hour');
  const block = page.getByRole('region', { name: new RegExp(`^${today()} .* by the hour$`) }).first();
  await journey.click(block.getByRole('button', { name: 'View as table' }));
  await journey.click(
    block
      .locator('tbody tr')
      .filter({ hasText: `${clock(hour)} –` })
      .getByRole('link')
      .nth(1),
  );
  await expect(calls(page)).toHaveCount(3);
  expect(new URL(page.url()).pathname).toBe('/calls');
  expect(query(page)).toMatchObject({ from: clock(hour), to: clock(hour + 1), result: 'failure' });
  for (const [n, id] of failed.entries()) await expect(calls(page).nth(n).locator('[data-call]')).toHaveAttribute('data-call', id);
  await expect(calls(page).locator('[data-column="application"]')).toHaveText(['Ads', 'Ads', 'Search']);
  expect(journey.done().clicks).toBe(2);
});

test('a value says how many calls it would find, and finds them; sizes and columns are in the URL; the file has the list', async ({
  page,
  developer,
}) => {
  const { ads } = await withTwo(developer);
  await page.goto('/');
  await page.getByRole('navigation').getByRole('link', { name: 'Calls', exact: true }).click();
  await expect(page.getByText('13 match')).toBeVisible();
  await expect(calls(page)).toHaveCount(10);
  await page.getByLabel('Calls on a page').selectOption('25');
  await expect(calls(page)).toHaveCount(13);
  await facet(page, 'Application').getByRole('button', { name: 'Ads 5' }).press('Enter');
  await expect(page.getByText('5 match')).toBeVisible();
  await expect(facet(page, 'Application').getByRole('button', { name: 'Search 8' })).toBeVisible(); // its own filter does not count
  await facet(page, 'Status').getByRole('button', { name: '429 1' }).click();
  await expect(page.getByText('1 matches')).toBeVisible();
  expect(query(page)).toEqual({ application: ads.id, size: '25', status: '429' });
  await facet(page, 'Status').getByRole('button', { name: '429 1' }).click();
  await page.locator('.call-columns summary').press('Enter');
  await page.getByRole('checkbox', { name: 'Tokens', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Status' }).click();
  await page.reload();
  await expect(calls(page)).toHaveCount(5);
  await expect(page.getByRole('columnheader', { name: 'Tokens' })).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'Status' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Application: Ads' })).toBeVisible();

  const file = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  const text = Buffer.concat((await (await (await file).createReadStream()).toArray()) as Buffer[]).toString();
  const [head, ...rows] = text.trim().split(/\r?\n/);
  expect(head).toContain('applicationId,application,callId');
  expect(rows).toHaveLength(5);
  for (const row of rows) expect(row.startsWith(`${ads.id},Ads,`)).toBe(true);
});

test('a call opens beside the list where there is room, else in its place; Back returns to its row', async ({ page, developer }) => {
  const { failed } = await withTwo(developer);
  for (const width of [1440, 1024]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/calls?result=failure');
    await calls(page).first().click();
    await expect(verdict(page)).toContainText('The upstream answered 500');
    await expect(calls(page)).toHaveCount(width === 1440 ? 3 : 0);
    expect(query(page)['call']).toBe(failed[0]);
    await page.keyboard.press('d');
    await expect(verdict(page)).toContainText('The upstream answered 429');
    await page.goBack();
    await expect(page.locator(`[data-call="${failed[1]}"]`)).toBeFocused();
    expect(query(page)).toEqual({ result: 'failure' });
  }
});

test('failures stand by what upstreams said, and lead to exactly theirs; a call shows where its time went', async ({ page, developer }) => {
  const { search } = await withTwo(developer);
  await developer.call(search.accessKey, {
    query: { delay: '50ms', gap: '20ms' },
    body: { model: 'demo', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
  });
  await developer.counted(14);
  await page.goto('/calls');
  await page.getByText('What upstreams said').press('Enter');
  const said = page.getByRole('table', { name: 'What upstreams said' });
  await expect(said.locator('tbody tr')).toHaveCount(1);
  await expect(said.locator('tbody td')).toHaveText([
    'This model always answers #.',
    'Ads 2, of 2 applications',
    '3',
    /./,
    'Still happening',
  ]);
  await said.getByRole('button', { name: 'This model always answers #.' }).click();
  await expect(page.getByText('3 match')).toBeVisible();
  expect(query(page)['message']).toBeTruthy();
  await page.reload();
  await expect(page.getByText('3 match')).toBeVisible();
  await page.getByRole('button', { name: /^Error message: This model/ }).click();
  await expect(page.getByText('14 match')).toBeVisible();
  await calls(page).first().locator('[data-call]').click();
  await expect(page.getByText(/^first byte after .* · ended after /)).toBeVisible();
  await expect(page.locator('.call-time > i')).toHaveCount(2);
});

test('more than 31 days are listed but not counted', async ({ page, developer }) => {
  await withTwo(developer);
  const start = dayOf(Date.now() - 40 * 86_400_000);
  await page.goto(`/calls?start=${start}&end=${today()}`);
  await expect(page.getByText('13 match')).toBeVisible();
  await expect(page.getByText('Counted for 31 days at most')).toBeVisible();
});

test('the calls of all applications pass axe, and fit every width', async ({ page, developer }) => {
  const { failed } = await withTwo(developer);
  for (const path of [
    '/calls',
    `/calls?call=${failed[0]}&columns=time,application,model,cost,tokens,speed,key,tags,user,attempts`,
    '/calls?result=failure',
  ]) {
    await page.goto(path);
    await inEveryLook(
      page,
      async () => {
        await expect(page.locator('[data-call], .call-facts').first()).toBeVisible();
      },
      async () => {
        await expectAccessible(page);
        for (const width of [390, 768, 1024, 1440, 1920]) {
          await page.setViewportSize({ width, height: 900 });
          await expect(() => expectNoSidewaysScroll(page)).toPass({ timeout: 10_000 });
        }
      },
    );
  }
});
