import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '../src/range/days';
import { Journey } from './journey';
import {
  CHAT,
  CLAUDE,
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  inEveryLook,
  test,
  type Developer,
  type NewApplication,
} from './test';

const table = (page: Page) => page.locator('.explore-table');
const row = (page: Page, name: string) => table(page).getByRole('row').filter({ hasText: name });
const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Calls of two applications: of two capabilities, a tag with two values, two users, and one that failed. */
async function withTagged(developer: Developer): Promise<{ search: NewApplication; ads: NewApplication }> {
  const [search, ads] = [await developer.createApplication('Search'), await developer.createApplication('Ads')];
  const said = (team: string, user: string) => ({ 'X-Callgate-Tags': `team=${team}, feature=rag`, 'X-Callgate-User': user });
  await developer.calls(search.accessKey, 3, { said: said('search', 'ada') });
  await developer.call(search.accessKey, {
    capability: CLAUDE,
    path: '/v1/messages',
    body: { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
    said: said('search', 'eve'),
  });
  await developer.call(search.accessKey, { model: 'demo-error-500', said: said('search', 'eve') });
  await developer.calls(ads.accessKey, 2, { said: said('ads', 'ada') });
  await developer.call(ads.accessKey);
  await developer.counted(8);
  return { search, ads };
}

test('which capability costs most this month against the last one takes three clicks', async ({ page, developer, administrator }) => {
  const model = `demo-${randomUUID().slice(0, 8)}`; // other tests call the same capability
  const price = {
    capabilityId: CHAT,
    upstreamModel: model,
    from: addDays(dayOf(Date.now()), -1),
    currency: 'USD',
    input: '10000',
    output: '10000',
  };
  await administrator.api('PUT', '/api/admin/prices', price);
  await withTagged(developer);
  const app = await developer.createApplication('Priced');
  await developer.call(app.accessKey, { model });
  await developer.counted(9);
  await page.goto('/');
  await page.getByRole('navigation').getByRole('link', { name: 'Explore' }).click();
  await page.getByRole('button', { name: 'This month' }).click();
  await expect(page).toHaveURL('/explore?range=month');
  await page.getByLabel('Metric').selectOption('cost');
  await expect(page).toHaveURL(/metric=cost/);
  await expect(table(page).getByRole('columnheader')).toContainText(['capability', 'Cost', 'Share', 'Month before', 'Change']);
  await expect(table(page).getByRole('row').nth(1)).toContainText('100.0%');
  const told = await developer.counted(9);
  await expect(table(page).locator('tfoot')).toContainText(`USD ${told.cost[0]!.amount}`);
  await expect(table(page).locator('tfoot')).toContainText('Total');
});

test('what a feature cost for a user is found by tags and users, leads to its calls, and is downloaded', async ({ page, developer }) => {
  const { search } = await withTagged(developer);
  await page.goto('/explore?by=tag:team');
  await expect(page.locator('.chart canvas')).toBeVisible();
  await expect(row(page, 'search')).toContainText('5');
  await expect(row(page, 'ads')).toContainText('2');
  await expect(row(page, 'without this tag')).toContainText('1');
  await row(page, 'search').getByRole('link', { name: 'search', exact: true }).click();
  await expect(page).toHaveURL(/tag=team%3Asearch/);
  await expect(page.getByRole('button', { name: 'Tag: team=search' })).toBeVisible();
  await expect(row(page, CHAT === 'demo-chat' ? 'Demo chat' : CHAT).first()).toBeVisible();

  await page.getByLabel('Group by').selectOption('user');
  await expect(table(page).locator('tbody tr')).toHaveCount(2);
  const user = table(page).locator('tbody tr').first().getByRole('link').first();
  await expect(user).toHaveText(/^[0-9a-f]{32}$/); // never the id itself, where a hash is kept
  await user.click();
  await page.getByLabel('Group by').selectOption('application');
  await expect(row(page, 'Search')).toContainText('3');
  const link = page.getByRole('link', { name: 'Download CSV' });
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  expect(file.suggestedFilename()).toMatch(/^explore-[\d-]+\.csv$/);

  await row(page, 'Search').getByRole('link', { name: 'calls' }).click();
  await expect(page).toHaveURL(new RegExp(`/applications/${search.id}/calls\\?`));
  expect(query(page)).toMatchObject({ tag: 'team:search' });
  await expect(page.locator('.calls-table tr.call')).toHaveCount(3);
  await page.locator('.calls-table tr.call').first().click();
  await page.getByRole('link', { name: 'feature=rag' }).click();
  await expect(page.locator('.calls-table tr.call')).toHaveCount(5);
  await page.getByRole('button', { name: 'Tag: feature=rag' }).click();
  await expect(page.locator('.calls-table tr.call')).toHaveCount(5);
  expect(query(page)).not.toHaveProperty('tag');
});

test('a question is saved, found again on another day, and deleted', async ({ page, developer }) => {
  await withTagged(developer);
  await page.goto('/explore?metric=tokens&by=tag:team');
  const views = page.getByRole('button', { name: 'Saved views' });
  await views.press('Enter');
  await page.getByRole('menuitem', { name: 'Save this view' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByLabel('Name of the view').fill('Tokens of teams');
  await expectAccessible(page);
  await dialog.getByLabel('Name of the view').press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(views).toHaveText('Tokens of teams');

  await page.goto('/explore');
  await views.click();
  await page.getByRole('menuitemradio', { name: 'Tokens of teams' }).click();
  await expect(page).toHaveURL(/metric=tokens/);
  await expect(row(page, 'search')).toBeVisible();
  await views.click();
  await page.getByRole('menuitem', { name: 'Delete “Tokens of teams”' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(views).toHaveText('Saved views');
});

test('explore is usable in every look; a range that is too long says so', async ({ page, developer }) => {
  await withTagged(developer);
  await page.goto('/explore?metric=failureRate');
  await inEveryLook(
    page,
    () => expect(table(page)).toBeVisible(),
    async () => {
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    },
  );
  const end = dayOf(Date.now());
  await page.goto(`/explore?by=user&start=${addDays(end, -200)}&end=${end}`);
  await expect(page.getByText(/31 天|31 days/)).toBeVisible();
  await page.goto(`/explore?start=${addDays(end, -200)}&end=${end}`);
  await expect(table(page).locator('tfoot')).toContainText('8');
});

test('journey: an alert from what I see', async ({ page, developer }) => {
  const search = await developer.createApplication('Search');
  await developer.calls(search.accessKey, 3);
  await developer.counted(3);
  await page.goto('/explore?metric=tokens&by=application');
  await expect(row(page, 'Search')).toBeVisible();
  const journey = new Journey(page, 'an alert from what I see');
  await journey.click(page.getByRole('button', { name: 'Alert on this…' }));
  const dialog = page.getByRole('dialog', { name: 'Alert on this…' });
  await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('Search: Tokens');
  await expect(dialog.getByLabel('Application')).toHaveValue(search.id);
  await expect(dialog).toContainText('half above the');
  const past = dialog.getByRole('status', { name: 'Had there been this alert' });
  await expect(past).toContainText('this would have fired once.');
  const [, worst] = /: ([\d,]+) tokens/.exec((await past.getByRole('listitem').textContent())!)!;
  await expectAccessible(page);
  await journey.click(dialog.getByRole('button', { name: 'Save' }));
  await expect(page.getByText('Alert Search: Tokens was saved.')).toBeVisible();
  await expect(dialog).toHaveCount(0);
  expect(journey.done().clicks).toBe(2);

  await page.goto('/alerts');
  const alert = page.getByRole('listitem').filter({ hasText: 'Search: Tokens' });
  await expect(alert).toContainText('Firing', { timeout: 60_000 });
  await expect(alert).toContainText(`Now ${worst} tokens`);
  await alert.getByRole('button', { name: 'Edit Search: Tokens' }).click();
  const again = page.getByRole('status', { name: 'Had there been this alert' });
  await expect(again).toContainText('would have fired once');
  await page.getByLabel('Threshold (tokens)').fill('1000000');
  await expect(again).toContainText('would not have fired');
  await page.getByLabel('Threshold (tokens)').fill('');
  await expect(again).toHaveCount(0);
});

test('a question of which no alert can be made says why', async ({ page, developer }) => {
  const search = await developer.createApplication('Search');
  await developer.calls(search.accessKey, 1);
  await developer.counted(1);
  const button = page.getByRole('button', { name: 'Alert on this…' });
  for (const [query, why] of [
    ['metric=tokens', 'group by application'],
    ['metric=p99&by=application', 'not this metric'],
    [`metric=tokens&application=${search.id}&model=${CHAT}`, 'take away what else narrows'],
  ] as const) {
    await page.goto(`/explore?${query}`);
    await expect(button).toBeDisabled();
    await expect(button).toHaveAttribute('title', new RegExp(why));
  }
  await page.goto(`/explore?application=${search.id}`);
  await expect(button).toBeEnabled(); // once the answer is there
  await button.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Alert on this…' });
  await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('Search: No calls');
  await expect(dialog.getByLabel('Threshold (min)')).toHaveValue('1440');
  await expect(dialog).toContainText('this would not have fired.');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(button).toBeFocused();
});

test('the dialog of an alert fits every look, with a long name', async ({ page, developer }) => {
  const search = await developer.createApplication('Customer service assistant of the northern department, second 1');
  await developer.calls(search.accessKey, 2);
  await developer.counted(2);
  await page.goto('/explore?metric=tokens&by=application');
  const open = async () => {
    await page.getByRole('button', { name: /^(Alert on this|据此告警)…$/ }).click();
    await expect(page.getByRole('dialog').locator('.alert-past li')).toBeVisible();
  };
  await inEveryLook(page, open, async () => {
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
    }
  });
});
