import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { openFailure, part, verdict } from './log';
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
const block = (page: Page) => page.getByRole('region', { name: 'Limits', exact: true });
const field = (page: Page, name: string) => page.getByRole('form').getByLabel(name, { exact: true });
const limit = (page: Page, name: string) => block(page).getByRole('listitem').filter({ hasText: name });
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const widths = [390, 768, 1024, 1440];

const stored = async (developer: Developer, { id }: NewApplication) =>
  (await developer.api<Schemas['Application']>('GET', `/api/applications/${id}`)).limits;
const ceiling = (administrator: Administrator, draft: Schemas['CeilingDraft']) =>
  administrator.api<Schemas['Ceiling']>('PUT', '/api/admin/limits', draft);

/** The usage as gateways would have counted it. */
async function used(page: Page, figures: Partial<Record<Schemas['LimitName'], number>>): Promise<void> {
  await page.route('**/limits/usage', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['LimitsUsage'] };
    for (const item of body.data.items) item.used = figures[item.name] ?? null;
    await route.fulfill({ response: answer, json: body });
  });
}

test('an owner sets limits and removes them, and the page says who set each and what happens beyond', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await page.goto(`/applications/${app.id}?tab=limits`);
  await expect(block(page)).toContainText('answered 429, with Retry-After where waiting');
  await expect(block(page).getByText('No limit')).toHaveCount(5);
  await block(page).getByRole('button', { name: 'Edit limits' }).click();
  await expect(field(page, 'Requests per minute')).toBeFocused();
  await field(page, 'Requests per minute').fill('12,000');
  await field(page, 'Tokens per day').fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(field(page, 'Tokens per day')).toBeFocused();
  await expect(page.getByRole('form')).toContainText('Must be a whole number from 1 to 1,000,000,000,000, or empty.');
  await field(page, 'Tokens per day').fill('5000000');
  await page.keyboard.press('Enter');
  await expect(limit(page, 'Requests per minute')).toContainText('Set by you · within any 60 s');
  await expect(limit(page, 'Requests per minute').getByRole('meter')).toHaveAttribute('aria-valuemax', '12000');
  await expect(limit(page, 'Tokens per day')).toContainText('5,000,000');
  await expect(limit(page, 'Tokens per day')).toContainText('counted anew from');
  await expect(block(page).getByRole('button', { name: 'Edit limits' })).toBeFocused();
  expect(await stored(developer, app)).toEqual({
    requestsPerMinute: 12_000,
    tokensPerMinute: null,
    concurrency: null,
    callsPerDay: null,
    tokensPerDay: 5_000_000,
  });
  await page.keyboard.press('Enter');
  await field(page, 'Requests per minute').fill('');
  await page.keyboard.press('Enter');
  await expect(block(page).getByText('No limit')).toHaveCount(4);
  expect((await stored(developer, app)).requestsPerMinute).toBeNull();
});

test('a limit above the ceiling is refused at its field, which says so before, and a ceiling holds where nothing is set', async ({
  page,
  developer,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /);
  const app = await developer.createApplication('Search');
  await ceiling(administrator, { scope: 'application', application: app.id, concurrency: 5 });
  await ceiling(administrator, { scope: 'owner', owner: developer.email, requestsPerMinute: 60 });
  await page.goto(`/applications/${app.id}?tab=limits`);
  await expect(limit(page, 'Calls in flight')).toContainText('Set by your administrator for this application · at this moment');
  await expect(limit(page, 'Requests per minute')).toContainText('Set by your administrator for all your applications together');
  await block(page).getByRole('button', { name: 'Edit limits' }).click();
  await expect(page.getByRole('form')).toContainText('At most 5, set by your administrator; empty: 5');
  await field(page, 'Calls in flight').fill('6');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('form')).toContainText('must be at most 5, the ceiling that an administrator has set for this application');
  await expect(field(page, 'Calls in flight')).toBeFocused();
  await field(page, 'Calls in flight').fill('4');
  await page.keyboard.press('Enter');
  await expect(limit(page, 'Calls in flight')).toContainText('Set by you ·');
  expect((await stored(developer, app)).concurrency).toBe(4);
});

test('what somebody else changed meanwhile is told before it is overwritten', async ({ page, developer, expected }) => {
  expected.push(/ 409 /);
  const app = await developer.createApplication('Search');
  await page.goto(`/applications/${app.id}?tab=limits`);
  await block(page).getByRole('button', { name: 'Edit limits' }).click();
  await field(page, 'Calls per day').fill('100');
  await developer.api('PATCH', `/api/applications/${app.id}/limits`, { callsPerDay: 7 });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('form').getByRole('alert')).toContainText('Calls per day 7');
  expect((await stored(developer, app)).callsPerDay).toBe(7);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(limit(page, 'Calls per day')).toContainText('100');
  expect((await stored(developer, app)).callsPerDay).toBe(100);
});

test('the usage stands against each limit as a bar with its numbers; what is not known is no zero', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.api('PATCH', `/api/applications/${app.id}/limits`, {
    requestsPerMinute: 120,
    concurrency: 5,
    callsPerDay: 10_000,
    tokensPerDay: 9,
  });
  await used(page, { requestsPerMinute: 87, concurrency: 5, callsPerDay: 0 });
  await page.goto(`/applications/${app.id}?tab=limits`);
  await expect(limit(page, 'Requests per minute')).toContainText('87 of 120');
  await expect(limit(page, 'Requests per minute').getByRole('meter')).toHaveAttribute('aria-valuenow', '87');
  await expect(limit(page, 'Calls in flight')).toContainText('Reached');
  await expect(limit(page, 'Calls per day')).toContainText('0 of 10,000');
  await expect(limit(page, 'Tokens per day')).toContainText('— of 9');
  await expect(limit(page, 'Tokens per day').getByRole('meter')).toHaveAttribute('aria-valuetext', /How much is used is not known now/);
});

test('a call that a limit refused says so and leads to the limits', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { capability: null });
  await page.route(/\/calls\/[0-9a-f-]{36}$/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['FailedCall'] };
    body.data.failure.reason = {
      type: 'limited',
      code: 'rate_limited',
      message: 'The limit of requests per minute is reached.',
      upstreamStatus: null,
    };
    await route.fulfill({ response: answer, json: body });
  });
  await page.setViewportSize({ width: 1440, height: 500 });
  await openFailure(page, developer, app);
  await expect(part(page, 'Failure detail')).toContainText('Limit reached');
  await expect(verdict(page)).toContainText('The application reached its limit of requests or tokens per minute');
  await expect(verdict(page)).toContainText('after as long as Retry-After says');
  await verdict(page).getByRole('link', { name: 'See the limits' }).click();
  await expect(page).toHaveURL(new RegExp(`/applications/${app.id}.*#limits$`));
  await expect(page.locator('.call-drawer .ant-drawer-content-wrapper')).toBeHidden();
  await expect(block(page)).toBeInViewport({ ratio: 0.5 });
  await page.getByRole('button', { name: 'Call log' }).first().click(); // and opens again
  await expect(page.locator('.call-drawer')).toBeVisible();
});

test('an administrator sets, edits and removes ceilings, each in the audit', async ({ page, developer, administrator }) => {
  const app = await developer.createApplication(`Search ${developer.email.slice(4, 12)}`, [CHAT]);
  await page.goto(`/admin/limits?q=${developer.email}`);
  await page.getByRole('button', { name: 'New ceiling' }).click();
  await field(page, 'For').selectOption('owner');
  await field(page, 'Owner').fill(developer.email.toUpperCase());
  await field(page, 'Requests per minute').fill('600');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, developer.email).getByRole('cell')).toContainText([developer.email, '600', '—', '—', '—', '—']);
  await page.getByRole('button', { name: 'New ceiling' }).click();
  await field(page, 'For').selectOption('application');
  await field(page, 'Application id').fill(app.id);
  await field(page, 'Tokens per minute').fill('90 000');
  await page.keyboard.press('Enter');
  await expect(row(page, app.name)).toContainText(`of ${developer.email}`);
  await page.getByRole('button', { name: 'New ceiling' }).click();
  await field(page, 'For').selectOption('owner');
  await field(page, 'Owner').fill(developer.email);
  await expect(page.getByRole('form')).toContainText('There is a ceiling already; this replaces it: Requests per minute 600.');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `Edit the ceiling for ${developer.email}` }).click();
  await expect(field(page, 'Owner')).toHaveAttribute('readonly', '');
  await field(page, 'Calls in flight').fill('20');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, developer.email).first().getByRole('cell')).toContainText([developer.email, '600', '—', '20', '—', '—']);
  const { items } = await administrator.api<Schemas['CeilingPage']>('GET', `/api/admin/limits?q=${encodeURIComponent(developer.email)}`);
  expect(
    items.map(({ scope, limits: { requestsPerMinute, tokensPerMinute, concurrency } }) => [
      scope,
      requestsPerMinute,
      tokensPerMinute,
      concurrency,
    ]),
  ).toEqual([
    ['owner', 600, null, 20],
    ['application', null, 90_000, null],
  ]);
  await page.getByRole('button', { name: `Remove the ceiling for ${app.name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(row(page, app.name)).toHaveCount(0);
  await expect(row(page, developer.email)).toHaveCount(1);
  await page.goto('/admin/audit');
  await expect(row(page, developer.email).filter({ hasText: 'Set ceiling' }).first()).toContainText('20');
  await expect(row(page, app.name).filter({ hasText: 'Set ceiling' }).first()).toContainText('90,000');
});

test('a ceiling for nobody is refused at its field, and one that was changed meanwhile is not overwritten unseen', async ({
  page,
  developer,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /, / 409 /);
  await ceiling(administrator, { scope: 'owner', owner: developer.email, concurrency: 3 });
  await page.goto(`/admin/limits?q=${developer.email}`);
  await page.getByRole('button', { name: `Edit the ceiling for ${developer.email}` }).click();
  await field(page, 'Calls in flight').fill('9');
  await ceiling(administrator, { scope: 'owner', owner: developer.email, concurrency: 4 });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('form').getByRole('alert')).toContainText('Somebody else changed it to Calls in flight 4');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, developer.email)).toContainText('9');
  await page.getByRole('button', { name: 'New ceiling' }).click();
  await field(page, 'For').selectOption('owner');
  await field(page, 'Owner').fill('nobody@example.com');
  await field(page, 'Calls per day').fill('5');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('form')).toContainText('no account has this e-mail address or id');
  await expect(field(page, 'Owner')).toBeFocused();
});

test('the limits of an application fit every width and are accessible in every look', async ({ page, developer, administrator }) => {
  const app = await developer.createApplication('Search');
  await ceiling(administrator, { scope: 'application', application: app.id, concurrency: 1_000_000_000_000 });
  await developer.api('PATCH', `/api/applications/${app.id}/limits`, {
    requestsPerMinute: 120,
    tokensPerMinute: 999_999_999_999,
    callsPerDay: 10_000,
  });
  await used(page, { requestsPerMinute: 120, tokensPerMinute: 999_999_999_999, callsPerDay: 8_500 });
  await page.goto(`/applications/${app.id}?tab=limits`);
  const open = async () => {
    await page.locator('.limit-bar').first().waitFor();
    await page.locator('#limits .block-head button').click();
    await page.locator('.limits-form').waitFor();
  };
  await inEveryLook(page, open, async () => {
    await expectAccessible(page);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
    }
  });
});

test('the ceilings fit every width and are accessible in every look', async ({ page, developer, administrator }) => {
  await ceiling(administrator, {
    scope: 'owner',
    owner: developer.email,
    requestsPerMinute: 1_000_000_000_000,
    tokensPerMinute: 1_000_000_000_000,
    concurrency: 1_000_000_000_000,
    callsPerDay: 1_000_000_000_000,
    tokensPerDay: 1_000_000_000_000,
  });
  const app = await developer.createApplication('W'.repeat(64));
  await ceiling(administrator, { scope: 'application', application: app.id, concurrency: 5 });
  await page.goto(`/admin/limits?q=${developer.email}`);
  const open = async () => {
    await page.locator('table.ceilings tbody td').first().waitFor();
    await page.locator('.page-head button').click();
    await page.locator('.ceiling-form').waitFor();
  };
  await inEveryLook(page, open, async () => {
    await expectAccessible(page);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
    }
  });
});
