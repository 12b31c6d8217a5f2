import type { Page } from '@playwright/test';
import { addDays, dayOf } from '../src/range/days';
import { upstream, withFailures } from './failing';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

const table = (page: Page) => page.locator('.explore-table');
const row = (page: Page, name: string) => table(page).getByRole('row').filter({ hasText: name });

let provider: Parameters<typeof withFailures>[2];
test.beforeEach(async ({ playwright }) => void (provider = { ...(await upstream()), stranger: () => playwright.request.newContext() }));
test.afterEach(() => provider.close());

test('whose calls of a capability fail is found, leads to the office’s figures, and is downloaded', async ({
  page,
  administrator,
  developer,
}) => {
  const { id, name, app, eve } = await withFailures(administrator, developer, provider, 9);
  await page.goto('/admin');
  await page.getByRole('navigation').getByRole('link', { name: 'Explore' }).click();
  await expect(page).toHaveURL('/admin/explore');
  await expect(page.locator('.chart canvas')).toBeVisible();
  for (const one of ['key', 'user', 'tag']) await expect(page.getByLabel('Group by').locator(`option[value=${one}]`)).toHaveCount(0);
  await page.goto(`/admin/explore?metric=failures&model=${id}&by=owner`);
  await expect(page.getByRole('button', { name: `Capability: ${id}` })).toBeVisible();
  await expect(row(page, developer.email)).toContainText('10');
  await expect(row(page, eve.email)).toContainText('1');
  await expect(table(page).locator('tfoot')).toContainText('11');

  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
  expect(file.suggestedFilename()).toMatch(/^explore-[\d-]+\.csv$/);

  await row(page, developer.email).getByRole('link', { name: developer.email }).click();
  await expect(page.getByRole('button', { name: `Owner: ${developer.email}` })).toBeVisible();
  await page.getByLabel('Group by').selectOption('application');
  await expect(row(page, app.name)).toContainText(developer.email);
  await row(page, app.name).getByRole('link', { name: 'figures' }).click();
  await expect(page).toHaveURL(/\/admin\/usage\?start=.*&end=.*&by=applications&q=/);
  await expect(page.locator('.usage-table tbody tr')).toContainText(app.name);

  await page.goto(`/admin/explore?model=${id}&by=upstream`);
  await expect(row(page, 'Provider')).toBeVisible();
  await page.getByLabel('Group by').selectOption('capability');
  await row(page, name).getByRole('link', { name: 'figures' }).click();
  await expect(page).toHaveURL(new RegExp(`/admin/capabilities/${id}/figures\\?start=`));
});

test('the office’s explore is usable in every look; a range that is too long says so', async ({ page, administrator, developer }) => {
  const { id } = await withFailures(administrator, developer, provider, 3);
  await page.goto(`/admin/explore?by=owner&model=${id}`);
  await inEveryLook(
    page,
    () => expect(table(page)).toBeVisible(),
    async () => {
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    },
  );
  const end = dayOf(Date.now());
  const year = `start=${addDays(end, -200)}&end=${end}`;
  await page.goto(`/admin/explore?by=upstream&${year}`);
  await expect(page.getByText(/31 天|31 days/)).toBeVisible();
  await page.goto(`/admin/explore?metric=p95&model=${id}&${year}`);
  await expect(table(page).locator('tbody tr')).toHaveCount(1);
});
