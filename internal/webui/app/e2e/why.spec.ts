import type { Page } from '@playwright/test';
import { clockOf, dayOf } from '../src/range/days';
import { Journey } from './journey';
import { calls, figures, verdict } from './log';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Developer } from './test';

const today = () => dayOf(Date.now());
const why = (page: Page) => page.getByRole('region', { name: 'Why calls failed' });
const rows = (page: Page) => why(page).locator('tbody tr');
const claude = {
  capability: CLAUDE,
  path: '/v1/messages',
  body: { model: 'demo-error-529', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
};

/** Two applications: the first fails three times with 429 and once with 500, the second twice with 529 and once without a model. */
async function withFailures(developer: Developer) {
  const search = await developer.createApplication('Search');
  const reports = await developer.createApplication('Reports');
  await developer.calls(search.accessKey, 2);
  await developer.calls(search.accessKey, 3, { model: 'demo-error-429' });
  await developer.call(search.accessKey, { model: 'demo-error-500' });
  await developer.calls(reports.accessKey, 2, claude);
  await developer.call(reports.accessKey, { capability: null });
  await developer.counted(9);
  return { search, reports };
}

test('the reasons of the range are counted, and each row leads to exactly its calls', async ({ page, developer }) => {
  const { search } = await withFailures(developer);
  await page.goto(`/applications/${search.id}?range=30d`);
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).nth(0)).toContainText(/Upstream answered 429.*375\.0%/s);
  await expect(rows(page).nth(1)).toContainText(/Upstream answered 500.*125\.0%/s);
  await rows(page).nth(0).getByRole('link', { name: 'Upstream answered 429' }).click();
  await expect(page).toHaveURL(
    `/applications/${search.id}/calls?range=30d&model=${CHAT}&result=failure&reason=upstream_http_error%3Aupstream_status&upstreamStatus=429`,
  );
  await expect(calls(page)).toHaveCount(3);
  await page.goBack();
  await rows(page).nth(1).getByRole('link', { name: '1', exact: true }).click();
  await expect(calls(page)).toHaveCount(1);
  await expect(calls(page).locator('[data-column="reason"]')).toHaveText('Upstream answered 500');
});

test('a reason that hit several applications leads to all of them, the worst first', async ({ page, developer }) => {
  for (const [name, failures] of [
    ['Search', 1],
    ['Reports', 2],
  ] as const)
    await developer.calls((await developer.createApplication(name)).accessKey, failures, { model: 'demo-error-429' });
  await developer.createApplication('Quiet');
  await developer.counted(3);
  await page.goto('/?range=30d');
  await rows(page).getByRole('link', { name: '2, of 2 applications' }).click();
  await expect(page).toHaveURL('/applications?range=30d&sort=failures');
  await expect(page.locator('tbody tr').first()).toContainText('Reports');
});

test('the overview’s failures lead to why, and why to the calls of the application that was hit', async ({ page, developer }) => {
  const { search, reports } = await withFailures(developer);
  await page.goto('/');
  await expect(rows(page)).toHaveCount(4);
  await page.getByRole('link', { name: 'Failures 7' }).click();
  await expect(page).toHaveURL('/#why');
  await expect(why(page)).toBeFocused();
  await expect(why(page)).toBeInViewport();
  const missing = rows(page).filter({ hasText: 'Model missing' });
  await expect(missing).toContainText('unspecified');
  await missing.getByRole('link', { name: 'Reports' }).click();
  await expect(page).toHaveURL(
    new RegExp(`/applications/${reports.id}/calls\\?model=&result=failure&reason=invalid_request%3Amodel_required&upstreamStatus=0$`),
  );
  await expect(calls(page)).toHaveCount(1);
  await page.goto('/');
  const chat = page.getByRole('region', { name: 'By capability' }).getByRole('row').filter({ hasText: CHAT });
  await chat
    .or(page.getByRole('region', { name: 'By capability' }).getByRole('row').filter({ hasText: 'Demo chat' }))
    .getByRole('link', { name: '4', exact: true })
    .click();
  await expect(rows(page)).toHaveCount(2); // of that capability alone
  await expect(page).toHaveURL(`/?why=${CHAT}#why`);
  await rows(page).first().getByRole('link', { name: 'Search' }).click();
  await expect(page).toHaveURL(new RegExp(`/applications/${search.id}/calls\\?`));
  await expect(calls(page)).toHaveCount(3);
});

test('every figure of an application that counts calls leads to exactly these calls', async ({ page, developer }) => {
  const { search } = await withFailures(developer);
  const leads = async (link: () => Promise<unknown>, items: number) => {
    await page.goto(`/applications/${search.id}`);
    await expect(rows(page)).toHaveCount(2);
    await link();
    await expect(page).toHaveURL(/\/calls/);
    await expect(calls(page)).toHaveCount(items);
  };
  await leads(() => page.getByRole('link', { name: 'Calls 6' }).click(), 6);
  await leads(() => page.getByRole('link', { name: 'Failures 4' }).click(), 4);
  const model = page.getByRole('region', { name: 'By capability' }).getByRole('row').nth(1);
  await leads(() => model.getByRole('link', { name: '6', exact: true }).click(), 6);
  await leads(() => model.getByRole('link', { name: '4', exact: true }).click(), 4);
  const day = page.locator('.chart-days tbody tr').first();
  await leads(async () => {
    await page.getByRole('button', { name: 'View as table' }).click();
    await day.getByRole('link', { name: '4', exact: true }).press('Enter'); // by keyboard
  }, 4);
  await expect(page).toHaveURL(`/applications/${search.id}/calls?start=${today()}&end=${today()}&result=failure`);
});

test('a day is shown by the hour, with what it took until the first byte; an hour leads to its calls', async ({ page, developer }) => {
  const { search } = await withFailures(developer);
  const { items } = await developer.api<{ items: { startTime: string }[] }>('GET', `/api/statistics/applications/${search.id}/calls`);
  const hours = new Set(items.map(({ startTime }) => startTime.slice(11, 13)));
  const hour = items[0]!.startTime.slice(11, 13);
  const here = items.filter(({ startTime }) => startTime.slice(11, 13) === hour).length;
  await page.goto(`/applications/${search.id}`);
  const chart = page.getByRole('img', { name: /calls in all/ });
  await expect(chart.locator('canvas')).toBeVisible();
  const box = (await chart.boundingBox())!;
  await chart.click({ position: { x: box.width - 60, y: box.height - 60 } });
  await expect(page).toHaveURL(`/applications/${search.id}?start=${today()}&end=${today()}`);
  const block = page.getByRole('region', { name: new RegExp(`^${today()} .* by the hour$`) }).first();
  await expect(block.getByRole('img', { name: `Calls per hour of ${today()}, Beijing time: 6 calls in all, 4 failures.` })).toBeVisible();
  for (const measure of ['Failure rate', 'Duration', 'First byte', 'Calls']) {
    await block.getByRole('button', { name: measure, exact: true }).click();
    await expect(block.getByRole('img', { name: new RegExp(`^${measure} per hour`) }).locator('canvas')).toBeVisible();
  }
  await block.getByRole('button', { name: 'View as table' }).click();
  const row = block
    .getByRole('row')
    .filter({ hasText: `${hour}:00 –` })
    .first();
  await expect(row.getByRole('cell').nth(7)).toHaveText(/\d (ms|s)/); // p50 until the first byte
  await expect(block.locator('tbody tr')).toHaveCount(Number(clockOf(Date.now()).slice(0, 2)) + 1); // none of hours to come
  await row.getByRole('link').first().click();
  await expect(calls(page)).toHaveCount(here);
  const end = String(Number(hour) + 1).padStart(2, '0');
  await expect(page).toHaveURL(`/applications/${search.id}/calls?start=${today()}&end=${today()}&from=${hour}%3A00&to=${end}%3A00`);
  expect(hours.size).toBeLessThanOrEqual(2);
});

test('journey: from “something is wrong” on the overview to the reason of one call', async ({ page, developer }) => {
  await withFailures(developer);
  await page.goto('/');
  await expect(rows(page)).toHaveCount(4);
  const journey = new Journey(page, 'overview → reason → call');
  await journey.click(rows(page).first().getByRole('link', { name: 'Upstream answered 429' }));
  await expect(figures(page)).toBeVisible();
  await journey.click(calls(page).first());
  await expect(verdict(page)).toContainText('The upstream answered 429');
  expect(journey.done().clicks).toBe(2);
});

test('an hour of the overview leads to calls of that hour', async ({ page, developer }) => {
  const search = await developer.createApplication('Search', [CHAT]);
  expect((await developer.call(search.accessKey)).status).toBe(200);
  await expect.poll(async () => (await developer.statistics(search.id)).summary.calls).toBe(1);
  const { items } = await developer.api<{ items: { startTime: string }[] }>('GET', `/api/statistics/applications/${search.id}/calls`);
  const hour = items[0]!.startTime.slice(11, 13);
  const end = String(Number(hour) + 1).padStart(2, '0');
  await page.goto(`/?start=${today()}&end=${today()}`);
  const block = page.getByRole('region', { name: new RegExp(`^${today()} .* by the hour$`) }).first();
  await block.getByRole('button', { name: 'View as table' }).click();
  await block
    .locator('tbody tr')
    .filter({ hasText: `${hour}:00 –` })
    .getByRole('link', { name: '1' })
    .first()
    .click();
  await expect(page).toHaveURL(`/calls?start=${today()}&end=${today()}&from=${hour}%3A00&to=${end}%3A00`);
  await expect(calls(page)).toHaveCount(1);
});

test('reasons and hours pass axe, and fit every width', async ({ page, developer }) => {
  const { search } = await withFailures(developer);
  for (const path of ['/', `/applications/${search.id}?start=${today()}&end=${today()}`]) {
    await page.goto(path);
    await inEveryLook(
      page,
      async () => {
        await expect(page.locator('.why tbody tr').first()).toBeVisible();
        await expect(page.locator('.chart canvas')).toBeVisible();
      },
      async () => {
        await expectAccessible(page);
        for (const width of [390, 768, 1024, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await expect(() => expectNoSidewaysScroll(page)).toPass(); // a chart is drawn anew
        }
      },
    );
  }
});
