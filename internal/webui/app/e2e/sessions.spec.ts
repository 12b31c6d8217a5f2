import type { Browser, Page } from '@playwright/test';
import { Journey } from './journey';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Developer } from './test';

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0';
const PROGRAM = 'deploy-script/1.0';

const rows = (page: Page) => page.locator('.sessions tbody tr');

/** Another browser in which the same developer is signed in. */
async function elsewhere(browser: Browser, developer: Developer, userAgent: string) {
  const context = await browser.newContext({ userAgent, baseURL: developer.base });
  return { context, person: await developer.alsoIn(context.request) };
}

test('both browsers are listed; the end of one asks to sign in there, over its page, and leaves the other alone', async ({
  page,
  browser,
  developer,
}) => {
  const { context, person } = await elsewhere(browser, developer, FIREFOX);
  const there = await context.newPage();
  await there.goto('/applications');
  await expect(there.getByRole('heading', { name: 'Applications', level: 1 })).toBeVisible();

  await page.goto('/');
  const journey = new Journey(page, 'from anywhere to another browser signed out');
  await journey.click(page.getByRole('button', { name: /^Account/ }).locator('visible=true'));
  await journey.click(page.getByRole('menuitem', { name: 'Sessions' }));
  await expect(page).toHaveURL('/sessions');
  await expect(page).toHaveTitle('Sessions · Callgate');
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).first()).toContainText(/Chrome \d+ on \w+\s*This browser/);
  await expect(rows(page).first().getByRole('button')).toHaveCount(0); // that is what signing out is for
  const other = rows(page).filter({ hasText: 'Firefox 144 on Windows' });
  await expect(other.locator('strong')).toHaveAttribute('title', FIREFOX);
  await expect(other.locator('.number span[title]')).toHaveText([/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/]);

  await journey.click(other.getByRole('button', { name: /^End: Firefox 144 on Windows, signed in \d{4}/ }));
  const dialog = page.getByRole('dialog', { name: 'End this session?' });
  await expect(dialog).toContainText('Firefox 144 on Windows');
  await expectAccessible(page, '[role=dialog]');
  await journey.click(dialog.getByRole('button', { name: 'End', exact: true }));
  await expect(page.getByText('The session has ended.')).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByText('You are signed in nowhere else.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'End all others' })).toHaveCount(0);
  expect(journey.done().clicks).toBeLessThanOrEqual(4);

  expect(await person.isSignedIn()).toBe(false);
  expect(await developer.isSignedIn()).toBe(true);
  const signIn = there.getByRole('dialog', { name: 'Sign in' });
  await expect(async () => {
    // The page asks by itself now and then, and the dialog may be over it already.
    if (!(await signIn.isVisible())) await there.getByRole('link', { name: 'Capabilities' }).first().click({ timeout: 2000 });
    await expect(signIn).toBeVisible({ timeout: 5000 });
  }).toPass({ timeout: 30_000 });
  await context.close();
});

test('all others end at once, also one that is over already and one that began since', async ({ page, browser, developer }) => {
  const first = await elsewhere(browser, developer, FIREFOX);
  await page.goto('/sessions');
  await expect(rows(page)).toHaveCount(2);
  // In this order there is another one whenever the page reads its list again.
  const later = await elsewhere(browser, developer, PROGRAM);
  await first.person.api('POST', '/api/auth/logout');
  await page.getByRole('button', { name: 'End all others' }).click();
  const dialog = page.getByRole('dialog', { name: 'End all other sessions?' });
  await expect(dialog).toContainText(/Other sessions: [12]\./);
  await dialog.getByRole('button', { name: 'End all others' }).click();
  await expect(page.getByText('All other sessions have ended.')).toBeVisible();
  await expect(dialog).toBeHidden();
  await expect(rows(page)).toHaveCount(1);
  expect(await later.person.isSignedIn()).toBe(false);
  expect(await developer.isSignedIn()).toBe(true);
  for (const { context } of [first, later]) await context.close();
});

test('a session that is over already counts as ended; a refusal is told in the dialog, and a list that fails in its place', async ({
  page,
  browser,
  developer,
  expected,
}) => {
  expected.push(/ 404 /, / 500 /);
  const { context, person } = await elsewhere(browser, developer, PROGRAM);
  const refuse = { status: 500, json: { code: 50001, msg: 'broken', data: null, requestId: 'id-of-refusal' } };
  await page.goto('/sessions');
  const end = rows(page).filter({ hasText: PROGRAM }).getByRole('button', { name: /^End/ });
  await end.click();
  const dialog = page.getByRole('dialog');
  await page.route('**/api/auth/sessions/*', (route) => route.fulfill(refuse), { times: 1 });
  await dialog.getByRole('button', { name: 'End', exact: true }).click();
  await expect(dialog.getByRole('alert')).toContainText('The server had an internal error.');
  await person.api('POST', '/api/auth/logout');
  await dialog.getByRole('button', { name: 'End', exact: true }).click();
  await expect(page.getByText('The session has ended.')).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await page.route('**/api/auth/sessions', (route) => route.fulfill(refuse));
  await page.reload();
  await expect(page.locator('main .fault')).toContainText('id-of-refusal');
  await page.unroute('**/api/auth/sessions');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(rows(page)).toHaveCount(1);
  await context.close();
});

test('the page passes axe in both themes and languages and fits a phone', async ({ page, browser, developer }) => {
  const { context } = await elsewhere(browser, developer, PROGRAM);
  await page.goto('/sessions');
  await inEveryLook(
    page,
    () => rows(page).nth(1).waitFor(),
    () => expectAccessible(page),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await context.close();
});
