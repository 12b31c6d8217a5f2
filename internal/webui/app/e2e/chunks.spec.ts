import type { Page } from '@playwright/test';
import { expect, test } from './test';

/** A file of the pages that a release took away, for as long as `gone` says. */
const lose = (page: Page, name: string, gone = () => true) =>
  page.route(new RegExp(`/assets/${name}-[^/]+\\.js$`), (route) =>
    gone() ? route.fulfill({ status: 404, body: 'gone' }) : route.fallback(),
  );

/** How often the page itself was asked for. */
function documents(page: Page): { n: number } {
  const asked = { n: 0 };
  page.on('request', (request) => void (request.isNavigationRequest() && asked.n++));
  return asked;
}

test.beforeEach(({ expected }) => void expected.push(/assets|favicon/, /dynamically imported module/));

test('a page whose file a release took away reloads by itself, also in a tab that was reloaded before', async ({ page, developer }) => {
  void developer;
  await page.goto('/');
  await page.reload(); // which the navigation's history keeps
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  const asked = documents(page);
  await lose(page, 'CapabilitiesPage', () => asked.n === 0);
  await page.getByRole('link', { name: 'Capabilities' }).first().click();
  await expect(page.getByRole('heading', { name: 'Capabilities', level: 1 })).toBeVisible();
  await expect(page).toHaveURL('/capabilities');
  expect(asked.n).toBe(1);
  expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
});

test('a file that stays lost reloads the page once, and then it is said', async ({ page, developer }) => {
  void developer;
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await lose(page, 'CapabilitiesPage');
  const asked = documents(page);
  await page.getByRole('link', { name: 'Capabilities' }).first().click();
  await expect(page.getByRole('alert')).toContainText('could not be loaded, even after a reload');
  expect(asked.n).toBe(1);
  await expect(page.getByRole('navigation', { name: 'Main' }).first()).toBeVisible(); // the frame lives
});

test('a lost language reloads the page once; then both languages say what is the matter', async ({ page, developer }) => {
  void developer;
  const first = documents(page);
  await lose(page, 'console', () => first.n === 1);
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await page.evaluate(() => (window.name = ''));
  await lose(page, 'console');
  const asked = documents(page);
  await page.reload();
  await expect(page.getByRole('alert')).toContainText('页面没能加载完整');
  await expect(page.getByRole('alert')).toContainText('The page could not be loaded.');
  await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible();
  expect(asked.n).toBe(2); // by hand and by itself
});

test('where the server does not answer, a lost file does not turn the page into the browser’s error', async ({ page, developer }) => {
  void developer;
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await page.route(/\/assets\/CapabilitiesPage-[^/]+\.js$|\/favicon|:\d+\/capabilities$/, (route) => route.abort('connectionrefused'));
  const asked = documents(page);
  await page.getByRole('link', { name: 'Capabilities' }).first().click();
  await expect(page.getByRole('heading', { name: 'This page failed' })).toBeVisible();
  expect(asked.n).toBe(0);
});

test('the dialog of an expired session is at hand before it is needed', async ({ page, developer, context, expected }) => {
  void developer;
  expected.push(/ 401 /);
  const fetched = page.waitForResponse(/\/assets\/ExpiredDialog-[^/]+\.js$/);
  await page.goto('/applications?new');
  await page.getByRole('textbox', { name: /^Name/ }).fill('Typed');
  await fetched;
  await lose(page, 'ExpiredDialog');
  await context.clearCookies();
  await page.route('**/api/applications', (route) => route.fulfill({ status: 401, json: { code: 40102, msg: 'expired', data: null } }));
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
  await expect(page.getByRole('textbox', { name: /^Name/, includeHidden: true })).toHaveValue('Typed');
});

test('a fault of the server shows the request’s id and copies it, in place and at the edge', async ({
  page,
  developer,
  context,
  expected,
}) => {
  expected.push(/ 500 /);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const application = await developer.createApplication('Search');
  const refuse = (requestId: string) => ({ status: 500, json: { code: 50001, msg: 'broken', data: null, requestId } });
  await page.route(`**/api/applications/${application.id}/access-key`, (route) => route.fulfill(refuse('id-of-notice')));
  await page.route('**/api/capabilities', (route) => route.fulfill(refuse('id-in-place')));
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.goto(`/applications/${application.id}?tab=keys`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  const notice = page.locator('.notices');
  await expect(notice).toContainText('Request id id-of-notice');
  await notice.getByRole('button', { name: 'Copy request id' }).click();
  await expect.poll(copied).toBe('id-of-notice');
  await page.goto('/capabilities');
  const fault = page.locator('main .fault');
  await expect(fault).toContainText('Request id id-in-place', { timeout: 15_000 });
  await fault.getByRole('button', { name: 'Copy request id' }).click();
  await expect.poll(copied).toBe('id-in-place');
});
