import type { Page } from '@playwright/test';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type NewApplication } from './test';

const form = (page: Page, name: string | RegExp = 'New application') => page.getByRole('dialog', { name });
const stored = async (developer: { api: <T>(method: 'GET', path: string) => Promise<T> }) =>
  (await developer.api<{ items: NewApplication[] }>('GET', '/api/applications')).items;

test('an application is created with bindings, and its key makes a call at once', async ({ page, developer, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/applications');
  await expect(page.getByText('There is no application yet.')).toBeVisible();
  await page.keyboard.press('n');
  const dialog = form(page);
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('  Search  ');
  await dialog.getByLabel('Description').fill('Finds\nthings');
  await expect(dialog.getByLabel('Description')).toHaveValue('Finds things');
  await expect(dialog.getByText(/^0 of \d+$/)).toBeVisible();
  await dialog.getByRole('checkbox', { name: /Demo chat/ }).check();
  await expect(dialog.getByText(/^1 of \d+$/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Create' }).click();

  const done = form(page, 'Search is created');
  const key = (await done.locator('code.key').textContent())!;
  await expect(done.getByText('You can see it again on the page of the application.')).toBeVisible();
  await expect(done.locator('.code pre')).toContainText(`model=${CHAT}`);
  await expect(done.getByText('Waiting for the first call…')).toBeVisible();
  await done.getByRole('button', { name: 'Copy key' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  expect((await developer.call(key)).status).toBe(200);
  await expect(done.getByText(/^200 in .+ m?s: the first call has arrived\.$/)).toBeVisible();
  expect(await stored(developer)).toMatchObject([{ name: 'Search', description: 'Finds things', capabilityIds: [CHAT] }]);

  await done.getByRole('button', { name: 'Open application' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Search');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(await page.content()).not.toContain(key);
});

test('an application created without a capability is bound where its key is shown; a first call that fails says why and what to do', async ({
  page,
  developer,
}) => {
  await page.goto('/applications?new');
  await form(page).getByRole('textbox', { name: 'Name' }).fill('Search');
  await form(page).getByRole('button', { name: 'Create' }).click();
  const done = form(page, 'Search is created');
  await expect(done.getByText('It has access to no capability, so calls are refused.')).toBeVisible();
  await done.getByLabel('Capabilities').selectOption({ label: 'Demo chat' });
  await done.getByRole('button', { name: 'Grant access' }).click();
  await expect(done.locator('.code pre')).toContainText(`model=${CHAT}'`);
  expect(await stored(developer)).toMatchObject([{ capabilityIds: [CHAT] }]);
  const key = (await done.locator('code.key').textContent())!;
  expect((await developer.call(key, { capability: CLAUDE })).status).toBe(403);
  await expect(done.getByText(/^403 after .+: the call arrived and failed\.$/)).toBeVisible();
  await expect(done.locator('.verdict')).toContainText(`no access to ${CLAUDE}`);
  expect(await done.locator('.verdict').evaluate((verdict) => getComputedStyle(verdict).padding), 'its style is here too').not.toBe('0px');
  await expectAccessible(page, '[role=dialog]');
  await done
    .locator('.verdict')
    .getByRole('button', { name: /Grant access/ })
    .click();
  await expect.poll(async () => (await stored(developer))[0]!.capabilityIds).toEqual(expect.arrayContaining([CHAT, CLAUDE]));
});

test('a link with ?new opens the form once and leaves the URL', async ({ page, developer }) => {
  void developer;
  await page.goto('/applications?new');
  await expect(form(page)).toBeVisible();
  await expect(page).toHaveURL('/applications');
  await form(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('what is wrong is told at its field, by the page and by the server', async ({ page, developer, expected }) => {
  expected.push(/\/api\/applications .*400/);
  await page.goto('/applications?new');
  const dialog = form(page);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByText('Please give a name.')).toBeVisible();
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('x'.repeat(65));
  await expect(dialog.getByText('Please give a name.')).toBeHidden();
  await expect(dialog.getByText('65 / 64')).toBeVisible();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByText('At most 64 characters.')).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('x'.repeat(64));
  // A capability that vanished meanwhile: only the server knows.
  await page.route('**/api/applications', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    await route.continue({ postData: JSON.stringify({ name: 'x'.repeat(64), capabilityIds: ['no-such'] }) });
  });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByText('no such capability: "no-such"')).toBeVisible();
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('x'.repeat(64));
  await expectAccessible(page, '[role=dialog]');
  expect(await stored(developer)).toEqual([]);
});

test('leaving a form with changes asks first, by Cancel, Escape and Back', async ({ page, developer }) => {
  await developer.createApplication('Search');
  await page.goto('/');
  await page.getByRole('link', { name: 'Applications' }).first().click();
  await expect(page.getByRole('link', { name: 'Search', exact: true })).toBeVisible(); // the page comes in a part of its own
  await page.keyboard.press('n');
  await form(page).getByRole('textbox', { name: 'Name' }).fill('Draft');
  const asked = page.getByRole('dialog', { name: 'Discard changes?' });
  await form(page).getByRole('button', { name: 'Cancel' }).click();
  await asked.getByRole('button', { name: 'Keep editing' }).click();
  await expect(asked).toBeHidden();
  await expect(form(page).getByRole('textbox', { name: 'Name' })).toHaveValue('Draft');
  await form(page).getByRole('textbox', { name: 'Name' }).press('Escape');
  await expect(asked).toBeVisible();
  await page.keyboard.press('Escape'); // keeps editing
  await expect(asked).toBeHidden();
  await expect(form(page).getByRole('textbox', { name: 'Name' })).toHaveValue('Draft');
  await expect(form(page).getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.goBack();
  await expect(asked).toBeVisible();
  await expect(page).toHaveURL('/applications');
  await asked.getByRole('button', { name: 'Discard' }).click();
  await expect(page).toHaveURL('/');
  expect(await stored(developer)).toHaveLength(1);
});

test('no press is lost however quickly a question is asked and answered, on a slow machine too', async ({ page, developer }) => {
  void developer;
  await page.goto('/applications?new');
  await form(page).getByRole('textbox', { name: 'Name' }).fill('Draft');
  const asked = page.getByRole('dialog', { name: 'Discard changes?' });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Emulation.setCPUThrottlingRate', { rate: 6 });
  for (let round = 0; round < 12; round++) {
    await page.keyboard.press('Escape');
    await expect(asked).toBeVisible();
    if (round % 2 === 0) await page.keyboard.press('Escape');
    else await asked.getByRole('button', { name: 'Keep editing' }).click();
    await expect(asked).toBeHidden();
  }
  await browser.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  await expect(form(page).getByRole('textbox', { name: 'Name' })).toHaveValue('Draft');
});

test('leaving a form without changes does not ask', async ({ page, developer }) => {
  void developer;
  await page.goto('/applications?new');
  await form(page).getByRole('textbox', { name: 'Name' }).fill('x');
  await form(page).getByRole('textbox', { name: 'Name' }).fill('');
  await form(page).getByRole('textbox', { name: 'Name' }).press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('an edit starts from what is stored and undoes nothing that was changed elsewhere meanwhile', async ({
  page,
  developer,
  expected,
}) => {
  expected.push(/ 409 /);
  const { id } = await developer.createApplication('Search', [CHAT]);
  await page.goto('/applications');
  await expect(page.getByRole('link', { name: 'Search', exact: true })).toBeVisible();
  await developer.api('PATCH', `/api/applications/${id}`, { description: 'changed elsewhere' });
  await page.getByRole('button', { name: 'More actions for Search' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = form(page, 'Edit application');
  await expect(dialog.getByLabel('Description')).toHaveValue('changed elsewhere');
  await expect(dialog.getByRole('checkbox', { name: /Demo chat/ })).toBeChecked();
  await expect(dialog.getByRole('checkbox', { name: /Demo messages/ })).not.toBeChecked();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Search 2');
  await developer.api('PATCH', `/api/applications/${id}`, { description: 'changed again', capabilityIds: [CHAT, CLAUDE] });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert', { name: 'Somebody else changed this meanwhile.' })).toContainText('is now changed again');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Search 2', exact: true })).toBeVisible();
  expect(await stored(developer)).toMatchObject([{ name: 'Search 2', description: 'changed again', capabilityIds: [CHAT, CLAUDE] }]);
});

test('capabilities stand by group and are found by name or identifier', async ({ page, developer }) => {
  void developer;
  await page.goto('/applications?new');
  const dialog = form(page);
  await expect(dialog.getByRole('group', { name: 'Demo', exact: true }).getByRole('checkbox')).not.toHaveCount(0);
  const search = dialog.getByLabel('Search capabilities');
  await search.fill('MESSAGES');
  await expect(dialog.getByRole('checkbox')).toHaveCount(1);
  await dialog.getByRole('checkbox', { name: /Demo messages/ }).check();
  await search.fill(CHAT);
  await expect(dialog.getByRole('checkbox', { name: /Demo chat/ })).toBeVisible();
  await expect(dialog.getByText(/^1 of \d+$/)).toBeVisible(); // what is chosen stays, seen or not
  await search.fill('no such thing');
  await expect(dialog.getByText('No capability matches.')).toBeVisible();
});

test('a session that ends under the form loses nothing that was typed', async ({ page, developer, expected }) => {
  expected.push(/ 401 /);
  void developer;
  await page.goto('/applications?new');
  await form(page).getByRole('textbox', { name: 'Name' }).fill('Typed before');
  await page.route(
    '**/api/applications',
    (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 401, json: { code: 40102, msg: 'expired', data: null } })
        : route.fallback(),
    { times: 1 },
  );
  await form(page).getByRole('button', { name: 'Create' }).click(); // the token is renewed and the request sent again
  await expect(form(page, 'Typed before is created')).toBeVisible();
  expect(await stored(developer)).toHaveLength(1);
});

test('the form is accessible in both themes and languages, and fills a phone', async ({ page, developer }) => {
  void developer;
  await page.goto('/applications');
  const ready = async () => {
    await page.keyboard.press('n');
    await expect(page.getByRole('dialog').getByRole('checkbox').first()).toBeVisible();
  };
  await expect(page.getByText('There is no application yet.')).toBeVisible();
  await inEveryLook(
    page,
    async () => {
      await expect(page.locator('.empty')).toBeVisible();
      await ready();
    },
    () => expectAccessible(page, '[role=dialog]'),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await expect
    .poll(async () => (await page.getByRole('dialog').boundingBox())?.width, { message: 'the drawer narrows in 0.3 s' })
    .toBe(390);
  await expectAccessible(page, '[role=dialog]');
});
