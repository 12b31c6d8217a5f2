import { part } from './log';
import { CHAT, expect, mailedCode, test } from './test';

test('signing out leaves nothing of the page to the next person', async ({ page, context, developer, expected }) => {
  expected.push(/ 401 /); // figures that were being asked for
  const app = await developer.createApplication('Secret plans');
  await page.goto(`/applications/${app.id}?range=30d`);
  const other = await context.newPage();
  await other.goto('/applications?page=1');
  await expect(other.getByRole('heading', { name: 'Applications', level: 1 })).toBeVisible();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  for (const tab of [page, other]) {
    await expect(tab.getByLabel('E-mail')).toBeVisible();
    await expect(tab).toHaveURL('/sign-in');
    await expect(tab.getByText('the page you asked for opens then')).toHaveCount(0);
  }
});

test('a write that is refused at sign-out is not sent again as the next person', async ({
  page,
  developer,
  request,
  baseURL,
  expected,
}) => {
  expected.push(/ 40[14] /);
  const app = await developer.createApplication('Search');
  const sent: string[] = [];
  let refuse: () => void = () => undefined;
  const leaving = new Promise<void>((done) => (refuse = done));
  await page.route(`**/api/applications/${app.id}/status`, async (route) => {
    sent.push(route.request().headers()['authorization']!);
    if (sent.length > 1) return route.fallback();
    await leaving;
    await route.fulfill({ status: 401, json: { code: 40102, msg: 'expired', data: null } });
  });
  await page.goto(`/applications/${app.id}?tab=settings`);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect.poll(() => sent.length).toBe(1);
  await page.evaluate(() => new BroadcastChannel('callgate-console').postMessage('out')); // as another tab does that signed out
  await page.context().clearCookies();
  await expect(page.getByLabel('E-mail')).toBeVisible();
  refuse();
  const next = `next-${Date.now()}@example.com`;
  await page.getByLabel('E-mail').fill(next);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page
    .locator('.ant-otp-input')
    .first()
    .pressSequentially(await mailedCode(request, baseURL!, next));
  await expect(page.getByRole('button', { name: 'Account' })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.goto('/applications'); // whatever was on its way has gone out
  await expect(page.getByRole('heading', { name: 'Applications', level: 1 })).toBeVisible();
  expect(sent).toHaveLength(1);
});

test('a link out of the call log takes its place in the history: one Back returns', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { model: 'demo-error-429' });
  await page.goto('/applications');
  await page.getByRole('link', { name: 'Search' }).first().click();
  await expect(page).toHaveURL(`/applications/${app.id}`);
  await developer.counted(1);
  await page
    .getByRole('button', { name: /^Call log/ })
    .first()
    .click();
  await page.locator('.calls-table tr.call').first().click();
  await part(page, 'Failure detail')
    .getByRole('link', { name: `Try ${CHAT}` })
    .click();
  await expect(page).toHaveURL(`/capabilities/${CHAT}?tab=try&app=${app.id}`);
  await page.goBack();
  await expect(page).toHaveURL(`/applications/${app.id}`);
  await expect(page.getByRole('heading', { name: 'Search', level: 1 })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL('/applications');
});

test('Back comes to the place of the page that was left, another page begins at its top', async ({ page, developer }) => {
  await page.setViewportSize({ width: 1440, height: 400 });
  for (let n = 0; n < 10; n++) await developer.createApplication(`App ${n}`);
  await page.goto('/applications');
  await expect(page.getByRole('link', { name: 'App 9' }).first()).toBeVisible();
  const scrolled = () => page.evaluate(() => Math.round(window.scrollY));
  await page.getByRole('link', { name: 'App 0' }).first().scrollIntoViewIfNeeded();
  const place = await scrolled();
  expect(place).toBeGreaterThan(100);
  await page.getByRole('link', { name: 'App 0' }).first().click();
  await expect(page.getByRole('heading', { name: 'App 0', level: 1 })).toBeVisible();
  expect(await scrolled()).toBe(0);
  await page.mouse.wheel(0, 60);
  await expect.poll(scrolled).toBeGreaterThan(0);
  const inner = await scrolled();
  await page.goBack();
  await expect(page.getByRole('link', { name: 'App 0' }).first()).toBeVisible();
  await expect.poll(scrolled).toBe(place);
  await page.goForward();
  await expect(page.getByRole('heading', { name: 'App 0', level: 1 })).toBeVisible();
  await expect.poll(scrolled).toBe(inner);
});

test('the company’s sign-in is offered where the session expired, and the page goes on after it', async ({
  page,
  context,
  developer,
  expected,
}) => {
  expected.push(/ 401 /);
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { data: object };
    await route.fulfill({ response, json: { ...json, data: { ...json.data, oidc: { enabled: true, name: 'Acme' } } } });
  });
  await page.goto('/applications?new');
  await page.getByRole('textbox', { name: /^Name/ }).fill('Typed');
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.route('**/api/applications', (route) => route.fulfill({ status: 401, json: { code: 40102, msg: 'expired', data: null } }), {
    times: 1,
  });
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  const company = dialog.getByRole('link', { name: 'Sign in with Acme' });
  await expect(company).toHaveAttribute('target', '_blank');
  expect(await company.getAttribute('href')).toMatch(/^\/api\/auth\/oidc\/login\?next=/);
  await context.addCookies(cookies); // the company signed in, in the tab of its own
  const other = await context.newPage();
  await other.goto('/');
  await expect(other.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText('Typed is created')).toBeVisible();
  void developer;
});

test('samples wait for the address of the gateway instead of guessing it', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  let arrive: () => void = () => undefined;
  const told = new Promise<void>((done) => (arrive = done));
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { data: object };
    await told;
    await route.fulfill({ response, json: { ...json, data: { ...json.data, publicGatewayUrl: 'https://gate.example/' } } });
  });
  for (const path of ['/', `/applications/${app.id}`, `/capabilities/${CHAT}`]) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(
      page.getByText(path === '/' ? 'There were no calls' : path.startsWith('/app') ? 'Copy this curl' : 'Demo chat').first(),
    ).toBeVisible();
    expect(await page.locator('main').innerText()).not.toContain('/gateway');
  }
  arrive();
  for (const path of ['/', `/applications/${app.id}`, `/capabilities/${CHAT}`]) {
    await page.goto(path);
    await expect(page.getByText('https://gate.example/gateway').first()).toBeVisible();
  }
});
