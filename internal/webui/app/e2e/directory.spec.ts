import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { Journey } from './journey';
import { CHAT, Developer, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type NewApplication } from './test';

type Schemas = components['schemas'];

const REASON = 'It calls without end since Sunday; write to the platform team';

/** A developer who is not signed in on the page. */
async function owner(page: Page, base: string): Promise<Developer> {
  const context = await page.context().browser()!.newContext();
  const person = new Developer(context.request, base);
  await person.signIn();
  return person;
}

test('an application is disabled with a reason that its owner reads and cannot undo, and enabled again', async ({
  page,
  administrator,
  baseURL,
  browser,
  expected,
}) => {
  void administrator;
  expected.push(/ 409 /);
  const person = await owner(page, baseURL!);
  const app = await person.createApplication(`Runaway ${randomUUID().slice(0, 8)}`, [CHAT]);
  expect((await person.call(app.accessKey)).status).toBe(200);

  await page.goto('/admin/capabilities');
  const journey = new Journey(page, 'from the office to an application disabled with a reason');
  await journey.click(page.getByRole('link', { name: 'Applications', exact: true }).locator('visible=true'));
  await journey.write(page.getByRole('searchbox', { name: 'Search by name, id or owner' }), app.name);
  const row = page.getByRole('row').filter({ hasText: app.id });
  await journey.click(row.getByRole('button', { name: `Disable ${app.name}` }));
  const dialog = page.getByRole('dialog');
  const disable = dialog.getByRole('button', { name: 'Disable', exact: true });
  await expect(disable).toBeDisabled();
  await expectAccessible(page, '[role=dialog]');
  await expect(dialog.getByRole('checkbox', { name: /^End the calls that run now/ })).toBeChecked();
  await dialog.getByRole('textbox', { name: /^Reason/ }).fill(REASON);
  await journey.click(disable);
  await expect(row).toContainText('Disabled');
  await expect(row).toContainText(`Reason: ${REASON}`);
  await expect(row).toContainText(administrator.email);
  const taken = journey.done();
  expect(taken.clicks).toBeLessThanOrEqual(4);
  await expect.poll(async () => (await person.call(app.accessKey)).status).toBe(403);

  // Its owner, in a browser of their own.
  const theirs = await browser.newContext({
    ...(baseURL === undefined ? {} : { baseURL }),
    locale: 'en-US',
    storageState: await person.state(),
  });
  const own = await theirs.newPage();
  await own.goto(`/applications/${app.id}`);
  await expect(own.getByRole('status').filter({ hasText: REASON })).toContainText('Only an administrator can enable it.');
  await expect(own.getByRole('button', { name: 'Enable', exact: true })).toHaveCount(0);
  await own.getByRole('link', { name: 'Settings' }).click();
  await expect(own.getByRole('button', { name: 'Delete' })).toBeVisible();
  await expect(own.getByRole('button', { name: /^(Enable|Disable)$/ })).toHaveCount(0);
  await own.goto('/applications');
  const listed = own.getByRole('row').filter({ hasText: app.name });
  await expect(listed).toContainText('Disabled by administrator');
  await listed.getByRole('button', { name: `More actions for ${app.name}` }).click();
  await expect(listed.locator('.menu')).toContainText(REASON);
  await expect(own.getByRole('menuitem')).toHaveText(['Edit', 'Delete']);
  await theirs.close();

  await row.getByRole('button', { name: `Enable ${app.name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enable', exact: true }).click();
  await expect(row).toContainText('Active');
  await expect.poll(async () => (await person.call(app.accessKey)).status).toBe(200);
});

test('an application that its owner has disabled too stays disabled, and the page says so', async ({ page, administrator, baseURL }) => {
  const person = await owner(page, baseURL!);
  const app = await person.createApplication(`Both ${randomUUID().slice(0, 8)}`, []);
  await person.api('PATCH', `/api/applications/${app.id}/status`, { status: 'disabled' });
  await administrator.api('PATCH', `/api/admin/applications/${app.id}/status`, { status: 'disabled', reason: REASON });
  await page.goto(`/admin/applications?q=${app.id}`);
  const row = page.getByRole('row').filter({ hasText: app.id });
  await expect(row).toContainText('by its owner');
  await row.getByRole('button', { name: /^Enable/ }).click();
  await expect(page.getByRole('dialog')).toContainText('it stays disabled until its owner enables it');
  await page.getByRole('dialog').getByRole('button', { name: 'Enable', exact: true }).click();
  await expect(page.getByText('stays disabled by its owner, who can enable it again')).toBeVisible();
  await expect(row).toContainText('by its owner');
});

test('an application is moved to another owner, who has it with its key, and its former owner no longer', async ({
  page,
  administrator,
  baseURL,
  browser,
  expected,
}) => {
  expected.push(/ 400 /, / 404 /);
  const [from, to] = [await owner(page, baseURL!), await owner(page, baseURL!)];
  const app = await from.createApplication(`Inherited ${randomUUID().slice(0, 8)}`, [CHAT]);
  expect((await from.call(app.accessKey)).status).toBe(200);
  const theirs = await browser.newContext({
    ...(baseURL === undefined ? {} : { baseURL }),
    locale: 'en-US',
    storageState: await from.state(),
  });
  const own = await theirs.newPage();
  await own.goto(`/applications/${app.id}`);
  await expect(own.getByRole('heading', { name: app.name })).toBeVisible();

  await page.goto(`/admin/applications?q=${app.id}`);
  const row = page.getByRole('row').filter({ hasText: app.id });
  await row.getByRole('button', { name: `Move ${app.name} to another owner` }).click();
  const dialog = page.getByRole('dialog');
  const move = dialog.getByRole('button', { name: 'Move', exact: true });
  await expect(move).toBeDisabled();
  const field = dialog.getByRole('combobox', { name: /^New owner/ });
  await field.fill('nobody@example.com');
  await move.click();
  await expect(dialog).toContainText('no account has this e-mail address or id');
  await field.fill(to.email);
  await expect(dialog.locator(`datalist option[value="${to.email}"]`)).toHaveCount(1);
  await dialog.getByRole('textbox', { name: /^Reason/ }).fill('They have left');
  await expectAccessible(page, '[role=dialog]');
  await move.click();
  await expect(page.getByText(`${app.name} belongs to ${to.email} now.`)).toBeVisible();
  await expect(row).toContainText(to.email);

  expect((await to.call(app.accessKey)).status).toBe(200);
  const shown = await to.api<Schemas['Application']>('GET', `/api/applications/${app.id}`);
  expect(shown.name).toBe(app.name);
  await own.reload();
  await expect(own.getByRole('heading', { name: app.name })).toHaveCount(0);
  await theirs.close();

  await page.goto(`/admin/audit?target=${app.id}&action=application.move`);
  const entry = page.getByRole('row').filter({ hasText: 'Moved application to another owner' });
  for (const text of [administrator.email, from.email, to.email, 'They have left']) await expect(entry).toContainText(text);
});

test('journey: a person left, and all of their applications go to another owner', async ({ page, administrator, baseURL, expected }) => {
  void administrator;
  expected.push(/ 400 /, / 409 /);
  const [from, to] = [await owner(page, baseURL!), await owner(page, baseURL!)];
  const apps = [
    await from.createApplication('Leaving one'),
    await from.createApplication('Leaving two'),
    await from.createApplication('Left off'),
  ];
  const [one, two, off] = apps as [NewApplication, NewApplication, NewApplication];
  await from.api('PATCH', `/api/applications/${off.id}/status`, { status: 'disabled' });
  await page.goto('/admin');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const journey = new Journey(page, 'somebody left → all applications moved');
  await journey.press('Control+k');
  await expect(page.getByRole('combobox')).toBeFocused();
  await journey.paste(from.email);
  await expect(page.getByRole('option', { name: `${from.email} User` })).toBeVisible();
  await page.getByRole('option', { name: `${from.email} User` }).hover(); // as the arrows do
  await journey.press('Enter');
  const row = page.getByRole('row').filter({ hasText: from.email });
  await journey.click(row.getByRole('button', { name: `Move applications of ${from.email}` }));
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('checkbox', { name: 'Leaving one' })).toBeChecked();
  await expect(dialog.getByRole('checkbox', { name: 'Left off · Disabled' })).not.toBeChecked();
  await expectAccessible(page, '[role=dialog]');
  await page.keyboard.insertText('nobody@example.com');
  await dialog.getByRole('button', { name: 'Move 2' }).click();
  await expect(dialog).toContainText('no account has this e-mail address or id');
  await dialog.getByRole('combobox').fill(to.email);
  // One is changed by its owner meanwhile: it stays, and it is said.
  await from.api('PATCH', `/api/applications/${two.id}`, { description: 'changed' });
  await journey.click(dialog.getByRole('button', { name: 'Move 2' }));
  await expect(dialog).toContainText('Moved: 1. Left: 2.');
  await expect(dialog.getByRole('listitem').filter({ hasText: 'Leaving two' })).toContainText('Somebody else changed it meanwhile.');
  expect((await to.api<Schemas['ApplicationPage']>('GET', '/api/applications')).items.map(({ id }) => id)).toEqual([one.id]);
  await journey.click(dialog.getByRole('button', { name: 'Move 1' }));
  await expect(page.getByText(`Applications moved: 2. They belong to ${to.email} now.`)).toBeVisible();
  expect(journey.done().clicks).toBeLessThanOrEqual(3);
  const theirs = await from.api<Schemas['ApplicationPage']>('GET', '/api/applications');
  expect(theirs.items.map(({ id }) => id)).toEqual([off.id]);
});

test('the directory is searched, filtered and ordered in the URL, and leads to the owner and the ceilings', async ({
  page,
  administrator,
  baseURL,
}) => {
  void administrator;
  const person = await owner(page, baseURL!);
  const mark = randomUUID().slice(0, 8);
  for (const name of ['zeta', 'alpha']) await person.createApplication(`${name} ${mark}`, []);
  await page.goto(`/admin/applications?q=${mark}`);
  const names = page.locator('.directory .directory-name');
  await expect(names).toHaveText([`alpha ${mark}`, `zeta ${mark}`]); // the newest first
  await page.getByRole('combobox', { name: 'Order' }).selectOption('By name');
  await expect(page).toHaveURL(/sort=name/);
  await page.getByRole('combobox', { name: 'Status' }).selectOption('Disabled by an administrator');
  await expect(page.getByText('No application matches.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page).not.toHaveURL(/status=/);
  await page.goto(`/admin/applications?q=${mark}&sort=name`);
  await expect(names).toHaveText([`alpha ${mark}`, `zeta ${mark}`]);
  await expect(page.getByRole('link', { name: `Limits of alpha ${mark}` })).toHaveAttribute(
    'href',
    `/admin/limits?q=${encodeURIComponent(`alpha ${mark}`)}`,
  );
  await page
    .getByRole('row')
    .filter({ hasText: `alpha ${mark}` })
    .getByRole('link', { name: person.email })
    .click();
  await expect(page).toHaveURL(`/admin/users?q=${encodeURIComponent(person.email)}`);
  await page.getByRole('link', { name: `2 applications of ${person.email}` }).click();
  await expect(names).toHaveCount(2);
});

test('all sessions of a user end at once', async ({ page, administrator, baseURL }) => {
  void administrator;
  const person = await owner(page, baseURL!);
  await page.goto('/admin/capabilities');
  const journey = new Journey(page, 'from the office to all sessions of a user ended');
  await journey.click(page.getByRole('link', { name: 'Users', exact: true }).locator('visible=true'));
  await journey.write(page.getByRole('searchbox', { name: 'Search by e-mail address' }), person.email);
  const row = page.getByRole('row').filter({ hasText: person.email });
  await expect(row).toHaveCount(1);
  await journey.click(row.getByRole('button', { name: `End sessions of ${person.email}` }));
  await expect(page.getByRole('dialog')).toContainText('Live sessions: 1.');
  await expectAccessible(page, '[role=dialog]');
  await journey.click(page.getByRole('dialog').getByRole('button', { name: 'End sessions' }));
  await expect(page.getByText(`All sessions of ${person.email} have ended.`)).toBeVisible();
  await expect(row.getByRole('button', { name: 'End sessions' })).toBeDisabled();
  expect(journey.done().clicks).toBeLessThanOrEqual(4);
  expect(await person.isSignedIn()).toBe(false);
});

test('a call is found by the id that its caller was told, without what was sent', async ({ page, administrator, baseURL }) => {
  void administrator;
  const person = await owner(page, baseURL!);
  const app = await person.createApplication(`Search ${randomUUID().slice(0, 8)}`, [CHAT]);
  const { callId } = await person.call(app.accessKey, {
    model: 'demo-error-429',
    body: { model: 'demo-error-429', messages: [{ role: 'user', content: 'a secret of the caller' }] },
  });
  await expect
    .poll(async () =>
      (
        await page.request.get(`${baseURL}/api/admin/calls/${callId}`, {
          headers: { Authorization: `Bearer ${administrator.currentToken}` },
        })
      ).status(),
    )
    .toBe(200);
  await page.goto('/admin/capabilities');
  const journey = new Journey(page, 'X-Call-Id → facts');
  await journey.click(page.getByRole('link', { name: 'Find a call' }).locator('visible=true'));
  const field = page.getByRole('searchbox', { name: 'Call or trace id' });
  await expect(field).toBeFocused();
  await journey.paste(`x-call-id: ${callId}`);
  await journey.press('Enter');
  await expect(page).toHaveURL(`/admin/calls/${callId}`);
  const facts = page.getByRole('region', { name: 'The call' });
  await expect(facts).toContainText(app.name);
  await expect(facts).toContainText(person.email);
  await expect(facts).toContainText('Upstream answered 429');
  const taken = journey.done();
  expect(taken.clicks).toBe(1);
  await expect(page.locator('main')).not.toContainText('a secret of the caller');
  await expectAccessible(page);
  await facts.getByRole('link', { name: app.name }).click();
  await expect(page.getByRole('row').filter({ hasText: app.id })).toHaveCount(1);
});

test('what is no id is said to be none, and a call that is not there is said not to be', async ({ page, administrator, expected }) => {
  void administrator;
  expected.push(/ 404 /);
  await page.goto('/admin/calls');
  const field = page.getByRole('searchbox', { name: 'Call or trace id' });
  await field.fill('hello');
  await field.press('Enter');
  await expect(page.getByRole('alert')).toContainText('This holds no id');
  await field.fill('0198b5c9-42a8-7e10-b1c2-3d4e5f607182');
  await field.press('Enter');
  await expect(page.getByText('There is no such call:')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Call or trace id' }).fill('4bf92f3577b34da6a3ce929d0e0e4736');
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await expect(page).toHaveURL('/admin/calls?trace=4bf92f3577b34da6a3ce929d0e0e4736');
  await expect(page.getByText('There were no calls of this trace')).toBeVisible();
});

test('the audit trail is filtered in the URL, leads to what was changed, and is downloaded as filtered', async ({
  page,
  administrator,
  baseURL,
}) => {
  const person = await owner(page, baseURL!);
  const app = await person.createApplication(`Audited ${randomUUID().slice(0, 8)}`, []);
  await administrator.api('PATCH', `/api/admin/applications/${app.id}/status`, { status: 'disabled', reason: REASON });
  await page.goto('/admin/audit');
  await page.getByRole('searchbox', { name: /^Target/ }).fill(app.name);
  await page.getByRole('combobox', { name: 'What was changed' }).selectOption('Applications');
  await expect(page).toHaveURL(/action=application\./);
  const rows = page.locator('.audit tbody tr');
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText(`Reason of the administrator: ${REASON}`);
  await page.getByRole('searchbox', { name: /^Who/ }).fill(person.email);
  await expect(rows).toHaveCount(1);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
  expect(download.suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
  const text = await readFile(await download.path(), 'utf8');
  expect(text.trim().split('\n')).toHaveLength(2);
  expect(text).toContain('application.create');
  await page.reload();
  await expect(rows).toHaveCount(1);
  await rows.first().getByRole('link', { name: app.name }).click();
  await expect(page).toHaveURL(`/admin/applications?q=${app.id}`);
  await page.goto('/admin/audit?start=2020-01-01&end=2020-01-02');
  await expect(page.getByText('No entry matches.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL('/admin/audit');
});

test('on a phone the places that have no tab are under one that opens, and it closes', async ({ page, administrator }) => {
  void administrator;
  await page.setViewportSize({ width: 390, height: 640 });
  await page.goto('/admin/capabilities');
  const more = page.getByRole('button', { name: 'More', exact: true });
  await more.click();
  await expectAccessible(page);
  const users = page.locator('.more-places').getByRole('link', { name: 'Users' });
  await page.keyboard.press('Escape');
  await expect(users).toHaveCount(0);
  await expect(more).toBeFocused();
  await more.click();
  await page.locator('h1').click();
  await expect(users).toHaveCount(0);
  await more.click();
  await users.click();
  await expect(page).toHaveURL('/admin/users');
  await expect(users).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Users', exact: true })).toHaveAttribute('data-here');
});

const at = '2026-08-17T09:31:00.000+08:00';
const long = 'customer-service-assistant-of-the-northern-region-production-001';

/** The directories with the longest of everything. */
async function withLong(page: Page): Promise<void> {
  const held = { reason: 'Long words '.repeat(45).trim(), by: `${'a-rather-long-name'.repeat(2)}@example.com`, at };
  const person: Schemas['User'] = {
    id: '0198b5c1-0000-7a0c-8d55-90e2c4a1b7f3',
    email: `${'a-rather-long-name'.repeat(3)}@mail.example.com`,
  };
  const one: Schemas['ListedApplication'] = {
    id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3',
    name: long,
    status: 'disabled',
    owner: person,
    disabledByOwner: true,
    disabledByAdministrator: held,
    capabilityCount: 500,
    lastCallAt: at,
    createdAt: at,
    updatedAt: at,
  };
  const fine: Schemas['ListedApplication'] = {
    ...one,
    id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f4',
    status: 'active',
    disabledByOwner: false,
    disabledByAdministrator: null,
    lastCallAt: null,
  };
  await page.route('**/api/admin/applications?*', (route) =>
    route.fulfill({ json: { code: 0, msg: 'ok', data: { items: [one, fine], total: 2, page: 1, size: 20, lastCallsKnown: true } } }),
  );
  await page.route('**/api/admin/users?*', (route) =>
    route.fulfill({
      json: {
        code: 0,
        msg: 'ok',
        data: {
          items: [
            { ...person, createdAt: at, lastSignInAt: at, sessionCount: 12, applicationCount: 12345678 },
            { ...person, id: one.id, createdAt: at, lastSignInAt: null, sessionCount: 0, applicationCount: 0 },
          ],
          total: 2,
          page: 1,
          size: 20,
        },
      },
    }),
  );
}

test('the directories fit every width and theme in both languages', async ({ page, administrator }) => {
  test.setTimeout(240_000);
  void administrator;
  await withLong(page);
  for (const width of [390, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ['/admin/applications', '/admin/users', '/admin/calls', '/admin/audit?actor=a']) {
      await page.goto(path);
      await inEveryLook(
        page,
        () => expect(page.locator('h1')).toBeVisible(),
        async () => {
          await expectNoSidewaysScroll(page);
          await expectAccessible(page);
        },
      );
    }
  }
});
