import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { Journey } from './journey';
import { verdict } from './log';
import { CHAT, Developer, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search' });
const options = (page: Page) => palette(page).getByRole('option');
const field = (page: Page) => page.getByRole('combobox', { name: 'Call id, trace id, name or action' });
const ready = (page: Page) => expect(page.getByRole('heading', { level: 1 })).toBeVisible();

test('journey: from a call id in a log to the reason', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey, { model: 'demo-error-429' });
  const whole = await developer.call(app.accessKey);
  await developer.counted(2);
  await page.goto('/');
  await ready(page);
  const journey = new Journey(page, 'call id → reason');
  await journey.press('Control+k');
  await expect(field(page)).toBeFocused();
  await journey.paste(`x-call-id: ${callId}`);
  await journey.press('Enter');
  await expect(verdict(page)).toContainText('The upstream answered 429');
  expect(journey.done()).toMatchObject({ clicks: 0, keys: 3 });
  await expect(page).toHaveURL(`/calls/${callId}`);
  await page.keyboard.press('/');
  await field(page).fill(whole.callId);
  await page.keyboard.press('Enter');
  await expect(verdict(page)).toContainText('Succeeded with 200'); // a success has its facts
});

test('a trace id lists its calls, whatever application made them', async ({ page, developer }) => {
  const trace = 'c0ffee00c0ffee00c0ffee00c0ffee01';
  const items: object[] = [];
  for (const [name, model] of [
    ['Search', 'demo'],
    ['Reports', 'demo-error-500'],
  ] as const) {
    const { id, accessKey } = await developer.createApplication(name);
    await developer.call(accessKey, { model });
    await developer.counted(items.length + 1);
    const {
      items: [made],
    } = await developer.api<components['schemas']['CallPage']>('GET', `/api/statistics/applications/${id}/calls`);
    items.unshift({ ...made, application: { id, name, status: 'active' } });
  }
  const asked = page.waitForRequest(/\/api\/calls\?/);
  await page.route(/\/api\/calls\?/, async (route) => {
    // this product has no traces to record
    const answer = await route.fetch();
    const json = (await answer.json()) as { data: { items: object[] } };
    expect(json.data.items).toEqual([]);
    json.data.items = items;
    await route.fulfill({ response: answer, json });
  });
  await page.goto('/');
  await page
    .getByRole('button', { name: /^Search/ })
    .locator('visible=true')
    .click();
  await field(page).fill(`00-${trace}-00f067aa0ba902b7-01`);
  expect(new URL((await asked).url()).searchParams.get('traceId')).toBe(trace);
  await expect(options(page)).toHaveCount(2);
  await expect(options(page).nth(0)).toContainText(`Reports · ${CHAT} · 500`);
  await expect(options(page).nth(1)).toContainText(`Search · ${CHAT} · 200`);
  await options(page).nth(0).click();
  await expect(verdict(page)).toContainText('The upstream answered 500');
});

test('a name leads to the application or the capability; arrows choose, Escape leaves, and the focus returns', async ({
  page,
  developer,
}) => {
  const app = await developer.createApplication('Nightly demo reports');
  await page.goto('/applications');
  await ready(page);
  const link = page.getByRole('link', { name: 'Nightly demo reports' }).first();
  await link.focus();
  await page.keyboard.press('/');
  await field(page).fill('demo');
  await expect(options(page).filter({ hasText: 'Nightly demo reports' }).first()).toBeVisible();
  await expect(options(page).first()).toHaveAttribute('aria-selected', 'true');
  const capability = options(page).filter({ hasText: CHAT });
  await expect(capability).toBeVisible();
  const steps = await options(page).evaluateAll((all, id) => all.findIndex((one) => one.textContent?.includes(id)), CHAT);
  for (let n = 0; n < steps; n++) await page.keyboard.press('ArrowDown');
  await expect(capability).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(palette(page)).toHaveCount(0);
  await expect(link).toBeFocused();
  await page.keyboard.press('/');
  await field(page).fill('nightly');
  await expect(options(page)).toHaveText([
    /^ ?Nightly demo reports Application$/,
    ...['Calls', 'Keys', 'Limits and budgets', 'Alerts', 'Settings'].map((tab) => new RegExp(`Nightly demo reports › ${tab}`)),
  ]);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/applications/${app.id}`);
  await page.keyboard.press('Control+k');
  await field(page).fill('no such thing');
  await expect(palette(page)).toContainText('Nothing of yours has this name or id');
  await field(page).fill('nightly key');
  await expect(options(page)).toHaveText([/Nightly demo reports › Keys/]);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/applications/${app.id}?tab=keys`);
});

test('journey: what is to be done is typed, in either language', async ({ page, developer }) => {
  await developer.createApplication('Search');
  await page.goto('/budgets');
  await ready(page);
  const journey = new Journey(page, 'verbs');
  const act = async (typed: string) => {
    await journey.press('Control+k');
    await expect(field(page)).toBeFocused();
    await journey.paste(typed);
    await journey.press('Enter');
    await expect(palette(page)).toHaveCount(0);
  };
  await act('failed');
  await expect(page).toHaveURL(/^[^?]*\/calls\?.*result=failure/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Calls');
  await act('新建告警');
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeVisible();
  await expect(page).toHaveURL('/alerts');
  await act('new appl');
  await expect(page.getByRole('dialog', { name: 'New application' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await act('dark');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await act('budg');
  await expect(page).toHaveURL('/budgets');
  await act('shortcuts');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  expect(journey.done()).toMatchObject({ clicks: 0 });
  await act('management');
  await expect(page).toHaveURL('/tokens');
  await act('Chinese');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await ready(page);
  await page.keyboard.press('/');
  await expect(page.getByRole('combobox')).toBeFocused();
  await page.keyboard.insertText('sign out');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/sign-in/);
});

test('where nothing is typed, the most useful verbs stand; one is clicked on a phone', async ({ page, developer }) => {
  void developer;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  await ready(page);
  await page
    .getByRole('button', { name: /^Search/ })
    .locator('visible=true')
    .click();
  await expect(options(page)).toHaveCount(8);
  await expect(options(page).first()).toContainText('New application');
  await expectNoSidewaysScroll(page);
  await options(page).filter({ hasText: 'Explore' }).click();
  await expect(page).toHaveURL('/explore');
});

test('the back office is searched too: calls, traces, applications, users, the catalog, and what can be done', async ({
  page,
  administrator,
  baseURL,
  playwright,
  expected,
}) => {
  expected.push(/ 404 /); // an application's id is tried as a call's
  const unique = randomUUID().slice(0, 8);
  const name = `Finder ${unique}`;
  const theirs = await playwright.request.newContext();
  const owner = new Developer(theirs, baseURL!, `finder.${unique}@example.com`);
  await owner.signIn();
  const app = await owner.createApplication(name);
  const { callId } = await owner.call(app.accessKey);
  await owner.counted(1);
  await page.goto('/admin');
  await ready(page);
  const office = page.getByRole('combobox', { name: 'Call id, trace id, name or action' });
  const find = async (typed: string, lines: RegExp[]) => {
    await page.keyboard.press('Control+k');
    await expect(office).toBeFocused();
    await office.fill(typed);
    await expect(options(page)).toHaveText(lines);
    await page.keyboard.press('Enter');
    await expect(palette(page)).toHaveCount(0);
  };
  await find(`x-call-id: ${callId}`, [new RegExp(callId)]);
  await expect(page).toHaveURL(`/admin/calls/${callId}`);
  await expect(page.locator('.call-facts')).toContainText(name);
  const trace = 'c0ffee00c0ffee00c0ffee00c0ffee01';
  await find(`00-${trace}-00f067aa0ba902b7-01`, [/Calls of the trace/]);
  await expect(page).toHaveURL(`/admin/calls?trace=${trace}`);
  await find(name.toLowerCase(), [new RegExp(`${name} Application · ${owner.email}`)]);
  await expect(page).toHaveURL(`/admin/applications?q=${app.id}`);
  await find(app.id, [new RegExp(`${app.id} Call`), new RegExp(name)]);
  await find(owner.email, [new RegExp(`${owner.email} User`), new RegExp(name)]);
  await expect(page).toHaveURL(`/admin/users?q=${encodeURIComponent(owner.email)}`);
  await expect(page.getByRole('row').filter({ hasText: owner.email })).toBeVisible();
  await find('demo-claude', [/demo-claude/]);
  await expect(page).toHaveURL('/admin/capabilities/demo-claude');
  await find('new price', [/New price/]);
  await expect(page.getByRole('form', { name: 'New price' })).toBeVisible();
  await expect(page).toHaveURL('/admin/prices');
  await find('invoi', [/Invoices/]);
  await expect(page).toHaveURL('/admin/reconcile');
  await page.keyboard.press('Control+k');
  await office.fill('no such thing');
  await expect(palette(page)).toContainText('Nothing has this name or id');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('Row up, row down');
  await page.keyboard.press('Escape');
  await theirs.dispose();
  void administrator;
});

test('the search of the back office passes axe, and fits a phone', async ({ page, administrator }) => {
  void administrator;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/admin');
  await inEveryLook(
    page,
    () => ready(page),
    async () => {
      await page.keyboard.press('/');
      await expect(page.getByRole('option')).toHaveCount(8);
      await page.getByRole('combobox').fill('demo');
      await expect(page.getByRole('option').nth(1)).toBeVisible();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.keyboard.press('Escape');
    },
  );
});

test('where a page has a search of its own, / is that one’s', async ({ page, developer }) => {
  void developer;
  await page.goto('/capabilities');
  await ready(page);
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await expect(palette(page)).toHaveCount(0);
  await page.keyboard.press('Control+k'); // also while somebody types
  await expect(palette(page)).toBeVisible();
});

test('? lists the keys; single keys can be turned off, which a reload keeps, and nothing is in web storage', async ({
  page,
  developer,
}) => {
  void developer;
  await page.goto('/');
  await ready(page);
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(dialog).toContainText('last 30 days');
  await dialog.getByLabel('Single keys do something').uncheck();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.keyboard.press('t');
  await page.keyboard.press('?');
  await page.keyboard.press('/');
  await expect(page).toHaveURL('/');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.reload();
  await ready(page);
  await page.keyboard.press('t');
  await page.keyboard.press('/');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL('/');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'system'); // the server reads the rest of the cookie as before
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await page
    .getByRole('button', { name: /^Account/ })
    .locator('visible=true')
    .click();
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
  await dialog.getByLabel('Single keys do something').check();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press('t');
  await expect(page).toHaveURL('/?range=30d');
  expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
});

test('the search and the list of keys pass axe', async ({ page, developer }) => {
  await developer.createApplication('Nightly demo reports');
  await page.goto('/');
  await inEveryLook(
    page,
    () => ready(page),
    async () => {
      await page.keyboard.press('/');
      await page.getByRole('combobox').fill('demo');
      await expect(page.getByRole('option').nth(1)).toBeVisible();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await expect(page.locator('.shortcuts')).toBeVisible();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    },
  );
});
