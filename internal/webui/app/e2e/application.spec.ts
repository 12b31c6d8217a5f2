import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from '@playwright/test';
import { noTokens, tile } from './figures';
import { count, duration } from '../src/format/format';
import { together } from '../src/tokens/tokens';
import { addDays, dayOf } from '../src/range/days';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

const today = () => dayOf(Date.now());
const times = (...all: (number | null)[]) => all.map((ms) => duration(ms, 'en'));
const tabs = (page: Page): Locator => page.getByRole('navigation', { name: 'Parts of the application' }).getByRole('link');
const figuresOf = (id: string) => `**/api/statistics/applications/${id}?*`;

test('who waits on the page of a new application is told how its first call went', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}`);
  await expect(page.getByText('Waiting for the first call…')).toBeVisible();
  await developer.call(accessKey);
  await expect(page.getByText(/^200 in .+: the first call has arrived\.$/)).toBeVisible();
  await expect(tile(page, 'Calls')).toHaveText('1');
});

test('summary, days and usage per model are those of the calls of this application alone', async ({ page, developer }) => {
  const [search, other] = [await developer.createApplication('Search'), await developer.createApplication('Other')];
  await developer.calls(search.accessKey, 2);
  await developer.calls(search.accessKey, 1, { model: 'demo-error-429' });
  await developer.call(search.accessKey, {
    capability: CLAUDE,
    path: '/v1/messages',
    body: { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
  });
  await developer.call(search.accessKey, { capability: null });
  await developer.calls(other.accessKey, 4);
  await developer.counted(9);
  const { summary, daily, models } = await developer.statistics(search.id);
  await page.goto(`/applications/${search.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Search');
  await expect(tile(page, 'Calls')).toHaveText('5');
  await expect(tile(page, 'Success rate')).toHaveText('60.00%');
  await expect(tile(page, 'Failures')).toHaveText('2');
  await expect(tile(page, 'Avg duration')).toHaveText(times(summary.avgDurationMs));
  const [p50, p95, p99] = times(summary.p50Ms, summary.p95Ms, summary.p99Ms);
  await expect(page.locator('.percentiles > span')).toHaveText([`p50 ${p50}`, `p95 ${p95}`, `p99 ${p99}`]);
  const used = page.getByRole('region', { name: 'By capability' }).getByRole('row');
  const cells = (name: string) => used.filter({ hasText: name }).getByRole('cell');
  const took = (model: string) =>
    models.filter((of) => of.model === model).flatMap((of) => [...times(of.avgDurationMs, of.p95Ms), count(together(of.tokens))]);
  await expect(cells('Demo chat')).toHaveText(['Demo chat', '3', '60.0%', '66.66%', '1', ...took(CHAT)]);
  await expect(cells('Demo messages')).toHaveText(['Demo messages', '1', '20.0%', '100.00%', '0', ...took(CLAUDE)]);
  await expect(cells('unspecified')).toHaveText(['unspecified', '1', '20.0%', '0.00%', '1', ...took('')]);
  await expect(used.nth(1)).toContainText('Demo chat'); // the most used first
  await expect(page.getByRole('img', { name: /: 5 calls in all, 2 failures\./ })).toBeVisible();
  await page.getByRole('button', { name: 'View as table' }).click();
  const now = daily.at(-1)!;
  const day = (of: string) => page.locator('.chart-days').getByRole('row').filter({ hasText: of }).getByRole('cell');
  await expect(day(today())).toHaveText([
    new RegExp(today()),
    '5',
    '2',
    '60.00%',
    ...times(now.avgDurationMs, now.p50Ms, now.p95Ms, now.p99Ms),
    count(together(now.tokens)),
  ]);
  await expect(day(addDays(today(), -1))).toHaveText([/-/, '—', '—', '—', '—', '—', '—', '—', '—']); // before the collection
  await expect(page.locator('.chart-days tbody tr')).toHaveCount(7);
});

test('the figures follow the range of the URL, and only they are asked for anew', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await developer.calls(accessKey, 2);
  await developer.counted(2);
  await page.goto(`/applications/${id}?range=30d`);
  await expect(tile(page, 'Calls')).toHaveText('2');
  await expect(page.locator('.chart canvas')).toBeVisible();
  await page.waitForLoadState('networkidle');
  const asked: string[] = [];
  page.on(
    'request',
    (request) => request.url().includes('/api/') && !request.url().endsWith('/api/config') && asked.push(new URL(request.url()).pathname),
  );
  const yesterday = addDays(today(), -1);
  await page.getByRole('button', { name: 'View as table' }).click();
  await page.getByRole('button', { name: new RegExp(`^${yesterday}`) }).click();
  await expect(page).toHaveURL(`/applications/${id}?start=${yesterday}&end=${yesterday}`);
  await expect(tile(page, 'Calls')).toHaveText('—');
  await expect(tile(page, 'Success rate')).toHaveText('—');
  await expect(page.getByText('Nothing was recorded in this range:')).toBeVisible();
  const others = asked.filter((path) => !path.endsWith('/hourly')); // asked for when they are in sight
  expect(new Set(others)).toEqual(new Set([`/api/statistics/applications/${id}`, `/api/statistics/applications/${id}/keys`]));
});

test('a disabled application waits for no call, and offers none that would be refused', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search');
  await developer.api('PATCH', `/api/applications/${id}/status`, { status: 'disabled' });
  await page.goto(`/applications/${id}`);
  await expect(page.getByText('There were no calls in this range.', { exact: true })).toBeVisible();
  await expect(page.getByText('Waiting for the first call…')).toHaveCount(0);
  await expect(page.locator('.code')).toHaveCount(0);
});

test('the first call shows up by itself within seconds', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}`);
  await expect(page.getByText('There were no calls in this range.')).toBeVisible();
  await developer.calls(accessKey, 2);
  await expect(tile(page, 'Calls')).toHaveText('2');
  await expect(page.locator('.chart canvas')).toBeVisible();
});

test('changes are told against the period before, of closed days only', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search');
  await page.route(figuresOf(id), async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { daily: { date: string }[]; summary: object; collectedSince: string } };
    const daily = body.data.daily.map(({ date }) => {
      const calls = date === today() ? 5000 : date > addDays(today(), -7) ? 30 : 20;
      return {
        date,
        calls,
        successes: calls,
        failures: 0,
        successRate: 1,
        avgDurationMs: 100,
        p50Ms: 90,
        p95Ms: 200,
        p99Ms: 300,
        ...noTokens,
      };
    });
    const calls = daily.reduce((sum, day) => sum + day.calls, 0);
    Object.assign(body.data, {
      daily,
      collectedSince: '2020-01-01T00:00:00.000+08:00',
      summary: { calls, successes: calls, failures: 0, successRate: 1, avgDurationMs: 100, p50Ms: 90, p95Ms: 200, p99Ms: 300, ...noTokens },
    });
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(`/applications/${id}`);
  const change = page.locator('.tile', { hasText: 'Calls' }).locator('.meta');
  await expect(change).toHaveText('+50.0%');
  await expect(change).toHaveAttribute('title', /^Compared with .+, without today$/);
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page).toHaveURL(`/applications/${id}?compare=off`);
  await expect(change).toHaveCount(0);
});

test('the key is masked, shown on request and hidden after 60 s or when the tab is left', async ({ page, developer }) => {
  await page.clock.install();
  const { id, accessKey, maskedAccessKey } = await developer.createApplication('Search');
  const asked: string[] = [];
  page.on('request', (request) => request.url().endsWith('/access-key') && asked.push(request.method()));
  await page.goto(`/applications/${id}?tab=keys`);
  const key = page.locator('code.key');
  await expect(key).toHaveText(maskedAccessKey);
  expect(asked).toEqual([]); // a separate request, and only when asked for
  const shown = page.waitForResponse((response) => response.url().endsWith('/access-key'));
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  expect((await shown).headers()['cache-control']).toContain('no-store');
  await expect(key).toHaveText(accessKey);
  await page.clock.fastForward(59_000);
  await expect(key).toHaveText(accessKey);
  await page.clock.fastForward(2_000);
  await expect(key).toHaveText(maskedAccessKey);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(key).toHaveText(accessKey);
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await expect(key).toHaveText(maskedAccessKey);
  expect(await page.content()).not.toContain(accessKey);
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { configurable: true, value: false }));
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('button', { name: 'Hide', exact: true }).click();
  await expect(key).toHaveText(maskedAccessKey);
  await page.getByRole('link', { name: 'All applications' }).click();
  await expect(page).toHaveURL('/applications'); // before that Back would leave the console
  await page.goBack();
  await expect(key).toHaveText(maskedAccessKey); // nothing kept it
  expect(asked).toEqual(['GET', 'GET', 'GET']);
});

test('the key is copied without being shown', async ({ page, context, developer }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id, accessKey, maskedAccessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Copy key' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(accessKey);
  await expect(page.locator('code.key')).toHaveText(maskedAccessKey);
});

test('rotating asks, shows the new key, and the old one stops within 2 s', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  expect((await developer.call(accessKey)).status).toBe(200);
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the key of Search?' });
  await dialog.getByLabel('Old key').selectOption('Stops at once');
  await expect(dialog).toContainText('the old key stops within 2 s');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await expect(dialog).toBeHidden();
  const rotatedAt = Date.now();
  const next = (await page.locator('code.key').textContent())!;
  expect(next).toMatch(/^cg-/);
  expect(next).not.toBe(accessKey);
  await expect.poll(async () => (await developer.call(accessKey)).status, { timeout: 4_000 }).toBe(401);
  expect(Date.now() - rotatedAt).toBeLessThan(4_000);
  expect((await developer.call(next)).status).toBe(200);
  await page.getByRole('button', { name: 'Hide', exact: true }).click();
  await expect(page.locator('code.key')).toHaveText(new RegExp(`^${next.slice(0, 7)}…${next.slice(-4)}$`));
});

test('a question stays until its answer is carried out, tells a failure in its place, and can then be left', async ({
  page,
  developer,
  expected,
}) => {
  expected.push(/503/);
  const { id } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  let answer = () => {};
  const asked = new Promise<void>((resolve) => (answer = resolve));
  await page.route(`**/api/applications/${id}/access-key/rotate`, async (route) => {
    await asked;
    await route.fulfill({ status: 503, json: { code: 50300, msg: 'not now', data: null } });
  });
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeVisible();
  answer();
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('not now');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Rotate' })).toBeFocused();
});

test('bound capabilities are listed; one that was disabled says so', async ({ page, administrator, developer }) => {
  const name = `cap-${Date.now()}`;
  const settings = { id: name, name: 'Short-lived', groupId: 'demo', upstreamBaseUrl: 'http://127.0.0.1:9', upstreamKey: 'k' };
  await administrator.api('POST', '/api/admin/capabilities', settings);
  const { id } = await developer.createApplication('Search', [CHAT, name]);
  await administrator.api('PATCH', `/api/admin/capabilities/${name}/status`, { status: 'disabled' });
  await page.goto(`/applications/${id}?tab=settings`);
  const bound = page.getByRole('region', { name: 'Capabilities it may call' }).getByRole('listitem');
  await expect(bound).toHaveText(['Demo chat', /^Short-lived\s*Disabled$/]);
  // It stays bound while others change, and can be removed, not chosen again.
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit application' });
  const old = dialog.getByRole('checkbox', { name: /Short-lived/ });
  await expect(old).toBeChecked();
  await dialog.getByRole('checkbox', { name: /Demo messages/ }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(bound).toHaveText(['Demo chat', 'Demo messages', /Short-lived/]);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await old.uncheck();
  await expect(old).toBeDisabled();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(bound).toHaveText(['Demo chat', 'Demo messages']);
});

test('a disabled application says so at the top and is enabled there', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await developer.api('PATCH', `/api/applications/${id}/status`, { status: 'disabled' });
  await page.goto(`/applications/${id}`);
  await expect(page.getByText('This application is disabled: its calls get 403 and count as failures.')).toBeVisible();
  await page.getByRole('button', { name: 'Enable' }).click();
  await expect(page.getByText('This application is disabled')).toBeHidden();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Active');
  await expect.poll(async () => (await developer.call(accessKey)).status).toBe(200);
});

test('without calls a curl that works shows the next step; without bindings, how to bind', async ({ page, developer }) => {
  const [bound, bare] = [await developer.createApplication('Bound', [CHAT]), await developer.createApplication('Bare', [])];
  await page.goto(`/applications/${bound.id}`);
  await expect(page.locator('.code pre')).toContainText(`/gateway/v1/chat/completions?model=${CHAT}`);
  const curl = (await page.locator('.code pre').textContent())!;
  const run = await promisify(execFile)('sh', ['-c', `${curl} -s`], { env: { ...process.env, CALLGATE_KEY: bound.accessKey } });
  expect(run.stdout).toContain('[DONE]');
  await developer.counted(1);
  await page.goto(`/applications/${bare.id}`);
  await expect(page.getByText('It has access to no capability, so calls are refused.')).toBeVisible();
  await page.getByRole('button', { name: 'Grant access' }).click();
  await page
    .getByRole('dialog')
    .getByRole('checkbox', { name: /Demo chat/ })
    .check();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.code pre')).toContainText(`?model=${CHAT}`);
});

test('deleting an application from its page leads to the list', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search');
  await page.goto('/capabilities');
  await page.goto(`/applications/${id}?range=30d&tab=settings`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByLabel('Enter the name Search to confirm').fill('Search');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL('/applications?range=30d');
  await expect(page.getByText('There is no application yet.')).toBeVisible();
  expect((await developer.api<{ total: number }>('GET', '/api/applications')).total).toBe(0);
  await page.goBack();
  await expect(page).toHaveURL('/capabilities'); // not the page of what is gone
});

test('what fails stands in its place with a retry, the rest of the page works', async ({ page, developer, expected }) => {
  expected.push(/ 503 /);
  const { id } = await developer.createApplication('Search');
  await page.route(figuresOf(id), (route) =>
    route.fulfill({ status: 503, json: { code: 50301, msg: 'a store is unavailable', data: null } }),
  );
  await page.goto(`/applications/${id}`);
  await expect(page.getByRole('alert')).toContainText('A store is unavailable for now.', { timeout: 15_000 });
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Search');
  await expect(tabs(page)).toHaveCount(6);
  await page.unroute(figuresOf(id));
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(tile(page, 'Calls')).toHaveText('0');
});

test('the page of an application is accessible in both themes and languages, and fits a phone', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await developer.calls(accessKey, 3);
  await developer.counted(3);
  for (const [tab, there] of [
    ['usage', '.chart canvas'],
    ['keys', '.keys tbody tr'],
    ['limits', '.limit-list li'],
    ['alerts', '.empty'],
    ['settings', '.bound li'],
  ] as const) {
    const ready = () => expect(page.locator(there).first()).toBeVisible();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`/applications/${id}?tab=${tab}`);
    await inEveryLook(page, ready, () => expectAccessible(page));
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await ready();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
  }
});

test('each tab has an address and what it needs alone; places within them lead to their tab', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await developer.call(accessKey);
  await developer.counted(1);
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.add(pathname);
  });
  await page.goto(`/applications/${id}?range=30d`);
  await expect(tile(page, 'Calls')).toHaveText('1');
  await expect(tabs(page)).toHaveText(['Usage', 'Calls', 'Keys', 'Limits and budgets', 'Alerts', 'Settings']);
  for (const path of ['keys', 'limits/usage', 'budgets']) expect(asked).not.toContain(`/api/applications/${id}/${path}`);
  const current = page.locator('.sections [aria-current=page]');
  await tabs(page).filter({ hasText: 'Limits and budgets' }).press('Enter');
  await expect(page).toHaveURL(`/applications/${id}?range=30d&tab=limits`);
  await expect(current).toHaveText('Limits and budgets');
  await expect(page.locator('.limit-list li').first()).toBeVisible();
  await expect(page.locator('.tile')).toHaveCount(0);
  asked.clear();
  await tabs(page).filter({ hasText: 'Settings' }).click();
  await expect(page.locator('.bound')).toContainText('Demo chat');
  await expect(page.locator('.facts')).toContainText(id);
  await page.goBack();
  await expect(current).toHaveText('Limits and budgets');
  await tabs(page).filter({ hasText: 'Calls' }).click();
  await expect(page).toHaveURL(`/applications/${id}/calls?range=30d`);
  for (const [hash, name] of [
    ['keys', 'Keys'],
    ['limits', 'Limits and budgets'],
    ['budgets', 'Limits and budgets'],
  ]) {
    await page.goto(`/applications/${id}#${hash}`);
    await expect(current).toHaveText(name!);
    await expect(page.locator(`#${hash}`)).toBeInViewport();
  }
});

test('the alerts of an application are told on its page, and one made there watches it', async ({ page, developer }) => {
  const [{ id }, other] = [await developer.createApplication('Search'), await developer.createApplication('Other')];
  await developer.api('POST', '/api/alerts', {
    name: 'Of the other',
    kind: 'noCalls',
    targetType: 'application',
    targetId: other.id,
    threshold: 30,
    channels: [{ kind: 'mail' }],
  });
  await page.goto(`/applications/${id}?tab=alerts`);
  await expect(page.locator('.empty')).toContainText('There are no alerts yet.');
  await page.getByRole('button', { name: 'New alert' }).click();
  const form = page.getByRole('form', { name: 'New alert' });
  await expect(form.getByLabel('Application')).toHaveValue(id);
  await form.getByLabel('Name').fill('Search fails');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.alert')).toHaveCount(1);
  await expect(page.locator('.alert')).toContainText('Search fails');
  await page.getByRole('button', { name: 'Deliveries of Search fails' }).click();
  await expect(page).toHaveURL(new RegExp(`/applications/${id}\\?tab=alerts&alert=`));
});
