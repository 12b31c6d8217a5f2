import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { addDays, dayOf } from '../src/range/days';
import { verdict } from './log';
import {
  CHAT,
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  inEveryLook,
  test,
  type Administrator,
  type Developer,
  type NewApplication,
} from './test';

type Schemas = components['schemas'];
const widths = [390, 768, 1024, 1440];
const block = (page: Page) => page.getByRole('region', { name: 'Budgets', exact: true });
const form = (page: Page) => page.getByRole('form', { name: /budget/i });
const fields = (page: Page, period: string) => form(page).getByRole('group', { name: period });
const budget = (page: Page, period: string) => block(page).getByRole('listitem').filter({ hasText: period });
const save = (page: Page) => form(page).getByRole('button', { name: 'Save' }).click();
const month = (amount: string, more: Partial<Schemas['BudgetDraft']> = {}): Schemas['BudgetsEdit'] => ({
  budgets: [{ period: 'month', amount, currency: 'USD', action: 'block', ...more }],
});
const set = (developer: Developer, { id }: NewApplication, edit: Schemas['BudgetsEdit']) =>
  developer.api<Schemas['BudgetItems']>('PUT', `/api/applications/${id}/budgets`, edit);
const stored = async (developer: Developer, { id }: NewApplication) =>
  (await developer.api<Schemas['BudgetItems']>('GET', `/api/applications/${id}/budgets`)).items;

/** A model of this test alone, at 0.01 USD a token. */
async function priced(administrator: Administrator): Promise<string> {
  const model = `demo-${randomUUID().slice(0, 8)}`; // other tests call the same capability
  await administrator.api('PUT', '/api/admin/prices', {
    capabilityId: CHAT,
    upstreamModel: model,
    from: addDays(dayOf(Date.now()), -1),
    currency: 'USD',
    input: '10000',
    cached: null,
    cacheWrite: null,
    output: '10000',
  });
  return model;
}

/** What is said of budgets, as if so much was spent. */
async function spent(page: Page, percent: number, more: Partial<Schemas['Budget']> = {}): Promise<void> {
  await page.route(/\/api\/(admin\/|applications\/[\w-]+\/)?budgets(\?|$)/, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { items: Schemas['Budget'][] } };
    for (const item of body.data.items)
      Object.assign(item, {
        percent,
        spent: String((Number(item.amount) * percent) / 100),
        left: String(Math.max(0, (Number(item.amount) * (100 - percent)) / 100)),
        state: percent >= 100 ? 'over' : percent >= 80 ? 'near' : 'ok',
        ...more,
      });
    await route.fulfill({ response: answer, json: body });
  });
}

test('an owner sets a budget, is refused once it is used up and sees it, raises it and calls again', async ({
  page,
  developer,
  administrator,
}) => {
  const model = await priced(administrator);
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { model });
  await developer.counted(1);
  await page.goto(`/applications/${app.id}?tab=limits`);
  await expect(block(page)).toContainText('There is no budget: nothing bounds what calls cost.');
  await block(page).getByRole('button', { name: 'Edit budgets' }).click();
  await expect(fields(page, 'A month').getByLabel('Currency')).toHaveValue('USD');
  await fields(page, 'A month').getByLabel('Amount').fill('0');
  await save(page);
  await expect(fields(page, 'A month').getByLabel('Amount')).toBeFocused();
  await expect(form(page)).toContainText('Must be a number above 0');
  await fields(page, 'A month').getByLabel('Amount').fill('0.01');
  await page.keyboard.press('Enter');
  await expect(budget(page, 'This month')).toContainText('Used up: calls refused');
  await expect(budget(page, 'This month').getByRole('meter')).toHaveAttribute('aria-valuenow', '100');
  await expect(budget(page, 'This month')).toContainText('mail at 50, 80, 100%');
  await expect(block(page).getByRole('button', { name: 'Edit budgets' })).toBeFocused();
  await expect.poll(async () => (await developer.call(app.accessKey, { model })).status, { timeout: 30_000 }).toBe(429);

  await page.goto('/');
  await expect(page.locator('.budget-lines')).toContainText('of 0.01 USD this month');
  await expect(page.locator('.budget-lines')).toContainText('Used up: calls refused');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Search' })).toContainText('of 0.01 USD this month');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Budgets' }).click();
  await expect(budget(page, 'This month')).toContainText('Used up: calls refused');
  await block(page).getByRole('link', { name: 'Search' }).click();
  await expect(page).toHaveURL(`/applications/${app.id}#budgets`);

  await budget(page, 'This month').getByRole('button', { name: 'Raise for a time… the budget of Search, a month' }).click();
  await form(page).getByLabel('Amount in USD').fill('1,000');
  await page.keyboard.press('Enter');
  await expect(form(page)).toContainText('Give a reason.');
  await form(page).getByLabel('Reason').fill('Load test');
  await form(page).getByRole('button', { name: 'Raise' }).click();
  await expect(budget(page, 'This month')).toContainText('of 1,000 USD');
  await expect(budget(page, 'This month')).toContainText(`by ${developer.email}: Load test`);
  await expect.poll(async () => (await developer.call(app.accessKey, { model })).status, { timeout: 30_000 }).toBe(200);
  await budget(page, 'This month').getByRole('button', { name: 'End it' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
  await expect(budget(page, 'This month')).toContainText('of 0.01 USD');
  expect((await stored(developer, app))[0]!.override).toBeNull();

  await page.goto(`/applications/${app.id}/calls?result=failure`);
  await page.locator('.calls-table tr.call', { hasText: 'Budget used up' }).first().click();
  await expect(verdict(page)).toContainText(/The application's budget of [0-9.]+ USD a month is used up/);
  await verdict(page).getByRole('link', { name: 'See the budgets' }).click();
  await expect(page).toHaveURL(new RegExp(`/applications/${app.id}.*#budgets$`));
});

test('all three periods are of one form; what is emptied is gone, and a percent that is none is refused', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await set(developer, app, month('200', { unknown: 'block', thresholds: [] }));
  await page.goto(`/applications/${app.id}?tab=limits`);
  await expect(budget(page, 'This month')).toContainText('calls of unknown cost are refused · no mail');
  await block(page).getByRole('button', { name: 'Edit budgets' }).click();
  await expect(fields(page, 'A month').getByLabel('Calls of unknown cost')).toHaveValue('block');
  await fields(page, 'A month').getByLabel('Amount').fill('');
  await form(page).getByText('A day', { exact: true }).click();
  await fields(page, 'A day').getByLabel('Amount').fill('12.50');
  await fields(page, 'A day').getByLabel('Currency').fill('cny');
  await fields(page, 'A day').getByLabel('When used up').selectOption('warn');
  await fields(page, 'A day').getByLabel('Notified at').fill('90, 0');
  await save(page);
  await expect(form(page)).toContainText('Must be at most five whole numbers');
  await fields(page, 'A day').getByLabel('Notified at').fill('90');
  await save(page);
  await expect(budget(page, 'Today')).toContainText('0.00 of 12.5 CNY');
  await expect(budget(page, 'This month')).toHaveCount(0);
  expect((await stored(developer, app)).map(({ period, amount, action, thresholds }) => [period, amount, action, thresholds])).toEqual([
    ['day', '12.5', 'warn', [90]],
  ]);
});

test('what somebody else changed meanwhile is told before it is overwritten', async ({ page, developer, expected }) => {
  expected.push(/ 409 /);
  const app = await developer.createApplication('Search');
  await set(developer, app, month('200'));
  await page.goto(`/applications/${app.id}?tab=limits`);
  await block(page).getByRole('button', { name: 'Edit budgets' }).click();
  await fields(page, 'A month').getByLabel('Amount').fill('300');
  await set(developer, app, month('250'));
  await expect(budget(page, 'This month')).toContainText('of 250 USD');
  await save(page);
  await expect(form(page).getByRole('alert')).toContainText('A month 250 USD (Refuse calls)');
  expect((await stored(developer, app))[0]!.amount).toBe('250');
  await save(page);
  await expect(budget(page, 'This month')).toContainText('of 300 USD');
});

test('a key has budgets of its own, which stand in its row', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const key = await developer.api<Schemas['NewKey']>('POST', `/api/applications/${app.id}/keys`, { name: 'Batch job' });
  await page.goto(`/applications/${app.id}?tab=keys`);
  const row = page.locator('table.keys').getByRole('row').filter({ hasText: 'Batch job' });
  await row.getByRole('button', { name: 'Budgets of the key Batch job' }).click();
  await fields(page, 'A month').getByLabel('Amount').fill('50');
  await save(page);
  await expect(row).toContainText('0.00 of 50 USD this month');
  await expect(row.getByRole('button', { name: 'Budgets of the key Batch job' })).toBeFocused();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'Budgets of the key Batch job' });
  await expect(panel.getByRole('listitem')).toContainText('Within budget');
  await expectAccessible(page, '#keys');
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(row.getByRole('button', { name: 'Budgets of the key Batch job' })).toBeFocused();
  await page.getByRole('link', { name: 'Limits and budgets' }).click();
  await expect(block(page)).toContainText('There is no budget'); // of the application itself
  expect((await stored(developer, app)).map(({ scope, keyId }) => [scope, keyId])).toEqual([['key', key.id]]);
  await page.goto('/budgets');
  await expect(budget(page, 'Key Batch job')).toContainText('0.00 of 50 USD');
});

test('a bar says when it will be used up, what is not in it, and what is not known is no zero', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await set(developer, app, month('200', { action: 'warn' }));
  await spent(page, 84.5, { unknownCalls: 1200, forecast: { amount: '401.20', usedUpOn: '2026-11-24' } });
  await page.goto(`/applications/${app.id}?tab=limits`);
  await expect(budget(page, 'This month')).toContainText('Nearly used up');
  await expect(budget(page, 'This month')).toContainText('84% · 31.00 USD left · begins anew');
  await expect(budget(page, 'This month')).toContainText('At this rate used up on 2026-11-24');
  await expect(budget(page, 'This month')).toContainText('1,200 more calls of unknown cost');
  await page.unrouteAll();
  await spent(page, 0, { spent: null, left: null, percent: null, state: 'unknown', unknownCalls: null, forecast: null });
  await page.reload();
  await expect(budget(page, 'This month')).toContainText('— of 200 USD');
  await expect(budget(page, 'This month')).toContainText('Not known now');
});

test('an administrator sets budgets of an owner and a capability, raises one, and finds both in the audit', async ({
  page,
  developer,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /);
  await page.goto(`/admin/budgets?q=${developer.email}`);
  await page.getByRole('button', { name: 'New budgets' }).click();
  await form(page).getByLabel('Owner').fill('nobody@example.com');
  await fields(page, 'A month').getByLabel('Amount').fill('500');
  await save(page);
  await expect(form(page)).toContainText('no account has this e-mail address or id');
  await expect(form(page).getByLabel('Owner')).toBeFocused();
  await form(page).getByLabel('Owner').fill(developer.email.toUpperCase());
  await save(page);
  await expect(budget(page, developer.email)).toContainText('of 500');
  await page.getByRole('button', { name: 'New budgets' }).click();
  await form(page).getByLabel('Owner').fill(developer.email);
  await expect(form(page)).toContainText('There are budgets already; these replace them: A month 500');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `Edit the budgets of ${developer.email}` }).click();
  await expect(form(page).getByLabel('Owner')).toHaveAttribute('readonly', '');
  await fields(page, 'A month').getByLabel('Amount').fill('600');
  await save(page);
  await expect(budget(page, developer.email)).toContainText('of 600');
  await budget(page, developer.email)
    .getByRole('button', { name: /^Raise for a time/ })
    .click();
  await form(page).getByLabel('Amount in').fill('700');
  await form(page).getByLabel('Reason').fill('A launch');
  await form(page).getByRole('button', { name: 'Raise' }).click();
  await expect(budget(page, developer.email)).toContainText(': A launch');
  await budget(page, developer.email)
    .getByRole('link', { name: /^Audit/ })
    .click();
  await expect(page.getByRole('row').filter({ hasText: 'Raised budget for a time' })).toContainText('A launch');
  await expect(page.getByRole('row').filter({ hasText: 'Set budgets' }).first()).toContainText('600');

  await page.goto('/admin/budgets');
  await page.getByRole('button', { name: 'New budgets' }).click();
  await form(page).getByLabel('For').selectOption('capability');
  await form(page).getByLabel('Capability').fill(CHAT);
  await fields(page, 'A month').getByLabel('Amount').fill('100000000');
  await fields(page, 'A month').getByLabel('When used up').selectOption('warn');
  await save(page);
  await expect(form(page)).toBeHidden();
  await page.getByRole('combobox', { name: 'For' }).selectOption('capability');
  await expect(block(page).getByRole('listitem')).toContainText(['of 100,000,000']);
  await administrator.api('PUT', '/api/admin/budgets', { scope: 'capability', capabilityId: CHAT, budgets: [] });
});

test('administrators see what is over, what is nearly so and who spends without a budget', async ({ page, developer, administrator }) => {
  const model = await priced(administrator);
  const app = await developer.createApplication(`Search ${developer.email.slice(4, 12)}`);
  await developer.call(app.accessKey, { model });
  await developer.counted(1);
  await page.goto('/admin/budgets?view=uncovered');
  await page.getByRole('button', { name: `Set the owner’s budgets: ${developer.email}, for ${app.name}` }).click();
  await expect(form(page).getByLabel('Owner')).toHaveValue(developer.email);
  await expect(fields(page, 'A month').getByLabel('Currency')).toHaveValue('USD'); // what was spent, whatever other prices are in
  await fields(page, 'A month').getByLabel('Amount').fill('0.01');
  await save(page);
  await expect(page.getByRole('row').filter({ hasText: app.name })).toHaveCount(0);
  await page.getByRole('button', { name: 'Used up', exact: true }).click();
  await expect(page).toHaveURL(/view=over/);
  await page.getByRole('searchbox').fill(developer.email);
  await expect(budget(page, developer.email)).toContainText('Used up: calls refused');
  await page.getByRole('button', { name: 'Nearly', exact: true }).click();
  await expect(page.getByText('No budget matches.')).toBeVisible();
  await expect.poll(async () => (await developer.call(app.accessKey, { model })).status, { timeout: 30_000 }).toBe(429);
});

test('an owner’s budgets that were changed meanwhile are not overwritten unseen', async ({ page, developer, administrator, expected }) => {
  expected.push(/ 409 /);
  const put = (amount: string) =>
    administrator.api('PUT', '/api/admin/budgets', { scope: 'owner', owner: developer.email, ...month(amount) });
  await page.goto('/admin/budgets');
  await page.getByRole('button', { name: 'New budgets' }).click();
  await form(page).getByLabel('Owner').fill(developer.email);
  await fields(page, 'A month').getByLabel('Amount').fill('10');
  await page.waitForLoadState('networkidle');
  await put('20');
  await save(page);
  await expect(form(page).getByRole('alert')).toContainText('A month 20 USD (Refuse calls)');
  await save(page);
  await expect(form(page)).toBeHidden();
  const { items } = await administrator.api<Schemas['BudgetPage']>('GET', `/api/admin/budgets?q=${encodeURIComponent(developer.email)}`);
  expect(items.map(({ amount }) => amount)).toEqual(['10']);
});

test('budgets fit every width and are accessible in every look', async ({ page, developer, administrator }) => {
  const app = await developer.createApplication('W'.repeat(64));
  const all: Schemas['BudgetsEdit'] = {
    budgets: (['day', 'week', 'month'] as const).map((period) => ({
      period,
      amount: '999999999.999999',
      currency: 'USD',
      action: 'block',
      unknown: 'block',
    })),
  };
  const { items } = await set(developer, app, all);
  await developer.api('POST', `/api/applications/${app.id}/budgets/${items[0]!.id}/override`, {
    amount: '888888888.888888',
    until: `${addDays(dayOf(Date.now()), 9)}T00:00:00+08:00`,
    reason: 'W'.repeat(500),
  });
  await administrator.api('PUT', '/api/admin/budgets', { scope: 'owner', owner: developer.email, ...all });
  await spent(page, 99.9, { unknownCalls: 12_345_678, forecast: { amount: '999999999.99', usedUpOn: '2026-12-24' } });
  const check = async () => {
    await expectAccessible(page);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
    }
  };
  const shown = () => page.locator('.limit-bar').first().waitFor();
  await page.goto('/budgets');
  await inEveryLook(page, shown, check);
  await page.goto(`/applications/${app.id}?tab=limits`);
  const open = async () => {
    await page.locator('#budgets .limit-bar').first().waitFor();
    await page.locator('#budgets .block-head button').click();
    await page.locator('#budgets .budget-form').waitFor();
  };
  await inEveryLook(page, open, check);
  await page.goto(`/admin/budgets?q=${developer.email}`);
  const openForm = async () => {
    await shown();
    await page.locator('.page-head button').click();
    await page.locator('.budget-form').waitFor();
  };
  await inEveryLook(page, openForm, check);
  await page.goto('/admin/budgets?view=uncovered');
  await inEveryLook(page, () => page.locator('.block .limits-about').nth(1).waitFor(), check);
});
