import { expect, expectAccessible, expectNoSidewaysScroll, mailedCode, prefer, test } from './test';

test('signing in by code leads back to the page that was asked for', async ({ page, request, baseURL }) => {
  await page.goto('/?range=30d');
  await expect(page).toHaveURL('/sign-in?next=%2F%3Frange%3D30d');
  await expect(page.getByText('Please sign in; the page you asked for opens then.')).toBeVisible();
  const email = `journey-${Date.now()}@example.com`;
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Send code' }).click();
  await expect(page.getByText(`If ${email} may sign in, a code is on its way.`)).toBeVisible();
  await expect(page.getByRole('button', { name: /^Resend \(\d+ s\)$/ })).toBeDisabled();
  const code = await mailedCode(request, baseURL!, email);
  await page.locator('.ant-otp-input').first().pressSequentially(code);
  await expect(page).toHaveURL('/?range=30d');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
});

test('a wrong code says so, and the boxes begin anew', async ({ page, expected }) => {
  expected.push(/\/api\/auth\/login .*401/);
  await page.goto('/sign-in');
  await page.getByLabel('E-mail').fill(`wrong-${Date.now()}@example.com`);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.locator('.ant-otp-input').first().pressSequentially('000000');
  await expect(page.getByText('The code is wrong or has expired.')).toBeVisible();
  await expect(page.locator('.ant-otp-input').first()).toBeFocused();
  await expect(page.locator('.ant-otp-input').first()).toHaveValue('');
});

test('a session is kept in a cookie only, and signing out ends it in every tab', async ({ page, context, developer, expected }) => {
  expected.push(/ 401 /); // what the other tab was being told
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
  const other = await context.newPage();
  await other.goto('/');
  await expect(other.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await page.getByRole('button', { name: 'Account' }).click();
  await expect(page.getByText(developer.email).first()).toBeVisible();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  for (const tab of [page, other]) await expect(tab).toHaveURL('/sign-in');
  await expect(other.getByText('You signed out in another tab.')).toBeVisible();
  await expect(page.getByLabel('E-mail')).toBeVisible();
  await expect(page.locator('.sign-in-card [role=status]')).toHaveCount(0); // who signs out knows why
});

test('a session that is over says so on the sign-in page', async ({ page, context, developer }) => {
  const cookies = await context.cookies();
  await developer.api('POST', '/api/auth/logout');
  await context.addCookies(cookies); // the browser still has the cookie
  await page.goto('/applications?page=2');
  await expect(page).toHaveURL('/sign-in?next=%2Fapplications%3Fpage%3D2');
  await expect(page.getByText('Your session has ended. Please sign in again.')).toBeVisible();
  await expectAccessible(page);
});

test('a session that ends under an open page asks to sign in over it, and the page goes on', async ({
  page,
  context,
  developer,
  expected,
}) => {
  expected.push(/ 401 /);
  await page.goto('/');
  await expect(page.getByText('Three steps to the first figure')).toBeVisible();
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.route('**/api/statistics/**', (route) => route.fulfill({ status: 401, json: { code: 40102, msg: 'expired', data: null } }), {
    times: 1,
  });
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  await expect(dialog).toBeVisible();
  await expect(dialog.getByLabel('E-mail')).toHaveValue(developer.email);
  await expectAccessible(page, '[role=dialog]');
  // A second code within a minute is not sent, so the session of before stands in for a new one.
  await page.route('**/api/auth/login', async (route) => {
    await context.addCookies(cookies);
    await route.fulfill({ response: await context.request.post('/api/auth/token') });
  });
  await dialog.getByRole('button', { name: 'Send code' }).click();
  await dialog.locator('.ant-otp-input').first().pressSequentially('123456');
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL('/?range=30d');
  await expect(page.getByText('Three steps to the first figure')).toBeVisible();
});

test('only paths of this site are gone to after signing in', async ({ page, developer }) => {
  void developer;
  await page.goto('/sign-in?next=https://example.com/');
  await expect(page).toHaveURL('/');
  await page.goto('/sign-in?next=//example.com/');
  await expect(page).toHaveURL('/');
});

test('the sign-in page is accessible in both themes and fits a phone', async ({ page }) => {
  for (const [language, theme, heading] of [
    ['en', 'light', 'Sign in'],
    ['zh-CN', 'dark', '登录'],
  ] as const) {
    await prefer(page, language, theme);
    await page.goto('/sign-in');
    await expect(page.getByRole('heading', { name: heading })).toBeVisible();
    await expectAccessible(page);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
});
