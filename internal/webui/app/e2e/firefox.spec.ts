import { dayOf } from '../src/range/days';
import { Firefox } from './firefox';
import { lasting, layoutFaults } from './layout';
import { CHAT, expect, mailedCode, test as plain } from './test';
import { withLongApplications, withLongCatalog } from './long';
import { widths } from './widths';

// What the other specs show in Chromium in full: here the journeys of a day, and every page once.

const test = plain.extend<{ firefox: Firefox }>({
  firefox: async ({ baseURL, expected }, use) => {
    const firefox = await Firefox.open(baseURL!);
    await use(firefox);
    await firefox.close();
    expect(firefox.faults.filter((fault) => !expected.some((known) => known.test(fault)))).toEqual([]);
  },
});

test('Firefox: from the sign-in by way of a first call to why it failed', async ({ firefox, request, baseURL, expected }) => {
  expected.push(/401/);
  const { page } = firefox;
  await firefox.width(1440);
  await page.goto(`${baseURL}/applications`);
  const email = `firefox-${Date.now()}@example.com`;
  await page.locator('input[type=email]').fill(email);
  await firefox.click('Send code');
  await page.locator('.ant-otp-input').click();
  await page.keyboard.type(await mailedCode(request, baseURL!, email));
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Applications');
  await page.keyboard.press('n');
  await page.locator('[role=dialog] input').fill('Search');
  await page.locator('::-p-xpath(//label[contains(., "Demo chat")])').click();
  await firefox.click('Create');
  const key = await firefox.text('code.key');
  const answer = await request.post(`${baseURL}/gateway/v1/chat/completions?model=${CHAT}`, {
    data: { model: 'demo-error-429', messages: [] },
    headers: { Authorization: `Bearer ${key}`, Cookie: '' },
  });
  expect(answer.status()).toBe(429);
  await page.waitForSelector('::-p-text(The upstream answered 429)');
  await firefox.click('Open application');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent?.includes('Search'));
  expect(firefox.at()).toMatch(/^\/applications\/[0-9a-f-]{36}$/);
});

test('Firefox: a figure leads to its calls and a call to its reason; a call id is found from anywhere', async ({
  firefox,
  context,
  developer,
}) => {
  const { page } = firefox;
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey, { model: 'demo-error-429' });
  await developer.calls(app.accessKey, 2);
  await developer.counted(3);
  await firefox.adopt(context);
  await firefox.width(1440);
  await firefox.goto(`/applications/${app.id}?range=30d`);
  await page.waitForFunction(() =>
    document
      .querySelector('canvas')
      ?.getContext('2d')
      ?.getImageData(0, 0, 600, 200)
      .data.some((part) => part > 0),
  );
  await firefox.click('Upstream answered 429', 'a');
  await page.locator('.calls-table tr.call').click();
  expect(await firefox.text('.verdict')).toContain('The upstream answered 429');
  await page.keyboard.press('Escape');
  await firefox.goto('/capabilities');
  await page.keyboard.down('Control');
  await page.keyboard.press('k'); // which is Firefox's own, too
  await page.keyboard.up('Control');
  await page.locator('[role=combobox]').fill(callId);
  await page.waitForSelector('[role=option]');
  await page.keyboard.press('Enter');
  expect(await firefox.text('.verdict')).toContain('The upstream answered 429');
  expect(firefox.at()).toBe(`/calls/${callId}`);
});

test('Firefox: every page stands at every width, and axe finds nothing of any impact', async ({
  firefox,
  context,
  developer,
  administrator,
}) => {
  test.setTimeout(300_000);
  const catalog = await withLongCatalog(administrator);
  const app = await withLongApplications(developer, catalog);
  const { callId } = await developer.call(app.accessKey, { model: 'demo-error-500' });
  await firefox.adopt(context);
  const day = dayOf(Date.now());
  const broken: string[] = [];
  for (const path of [
    '/',
    '/applications',
    `/applications/${app.id}`,
    `/applications/${app.id}?start=${day}&end=${day}`,
    `/applications/${app.id}/calls`,
    `/calls/${callId}`,
    '/capabilities',
    `/capabilities/${catalog.capabilityId}`,
    `/capabilities/${CHAT}?tab=try&app=${app.id}`,
    '/explore',
    '/budgets',
    '/alerts',
    '/sessions',
    '/tokens',
    '/whats-new',
    '/nowhere',
    '/admin',
    '/admin/usage',
    `/admin/capabilities/${CHAT}/figures`,
    '/admin/groups',
    '/admin/capabilities',
    `/admin/capabilities/${catalog.capabilityId}`,
    '/admin/upstreams',
    '/admin/prices',
    '/admin/limits',
    '/admin/budgets',
    '/admin/alerts',
    '/admin/spools',
    '/admin/audit',
  ]) {
    await firefox.width(1440);
    await firefox.goto(path);
    await firefox.expectAccessible();
    for (const width of widths) {
      await firefox.width(width);
      broken.push(...(await lasting(() => layoutFaults(firefox.page))).map((fault) => `${path} at ${width} px: ${fault}`));
    }
  }
  expect(broken).toEqual([]);
});

test('Firefox: a group that is dragged by its handle stands where the pointer is', async ({ firefox, context, administrator }) => {
  const { page } = firefox;
  const mark = String(Date.now());
  for (const name of ['One', 'Two']) await administrator.api('POST', '/api/admin/groups', { name: `${name} ${mark}` });
  await firefox.adopt(context);
  await firefox.width(1440);
  await firefox.goto('/admin/groups');
  const names = () =>
    page.$$eval('tbody .name-button', (all, of) => all.map((one) => one.textContent).filter((name) => name.endsWith(of)), mark);
  const [first, second] = await names();
  const boxOf = async (name: string | undefined) => (await page.$(`::-p-xpath(//tr[contains(., "${name}")]//button)`))!.boundingBox();
  const [handle, below] = [(await boxOf(first))!, (await boxOf(second))!];
  await page.mouse.move(handle.x + 8, handle.y + 8);
  await page.mouse.down();
  await page.mouse.move(handle.x + 8, below.y + below.height - 2, { steps: 8 });
  await expect.poll(names).toEqual([second, first]); // WebDriver ends no drag of Firefox with a drop
});
