import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { dayOf } from '../src/range/days';
import { upstream, withFailures } from './failing';
import { Journey } from './journey';
import { withBigOfficeFigures, withLongCatalog } from './long';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

type Schemas = components['schemas'];
const today = () => dayOf(Date.now());
const block = (page: Page, name: string | RegExp) => page.getByRole('region', { name });
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

let provider: Parameters<typeof withFailures>[2];
test.beforeEach(async ({ playwright }) => void (provider = { ...(await upstream()), stranger: () => playwright.request.newContext() }));
test.afterEach(() => provider.close());

// Dozens of calls fail, so that of all tests' failures these are among those that are named.
// Before these pages there was no way at all: no page told an administrator of anybody's calls.
test('journey: from “something is wrong” to which capability fails, since when, whom it hits and why', async ({
  page,
  administrator,
  developer,
}) => {
  const { id, name, app, other, eve } = await withFailures(administrator, developer, provider, 60, 12); // more refused than by tests beside it
  await page.goto('/admin');
  const journey = new Journey(page, 'failing capability → whom it hits → why');
  const failing = block(page, name);
  await expect(page.getByRole('status').filter({ hasText: /failing$/ })).toBeVisible(); // or others with it
  await expect(failing).toContainText('In the last hour 61 of 75 calls failed; in the hour before there were none.');
  const cause = failing.getByRole('listitem').first();
  await expect(cause).toContainText('Upstream answered 503');
  await expect(cause).toContainText(/since \d\d:\d\d:\d\d \(\d min\)/);
  await expect(cause).toContainText('Hits applications: 2, owners: 2');
  await expect(cause.locator('.cause-hit')).toHaveText([`${app.name} ${developer.email} 60`, `${other.name} ${eve.email} 1`]);
  await expect(failing.getByRole('link', { name: /Provider/ })).toBeVisible();
  await journey.click(failing.getByRole('link', { name: `Figures of ${name}` }));
  await expect(page).toHaveURL(new RegExp(`/admin/capabilities/${id}/figures\\?start=.*&end=${today()}$`));
  await expect(block(page, 'Why calls failed').locator('tbody tr').first()).toContainText(/Upstream answered 503.*61.*83\.6%/s);
  await expect(row(page, app.name)).toContainText(developer.email);
  expect(journey.done().clicks).toBe(1); // what fails, whom it hits and why is told without one
  await expect(block(page, 'Other failures of the last hour')).toHaveCount(0);
  await page.goBack();
  const refused = block(page, 'Other failures of the last hour').getByRole('listitem').filter({ hasText: name });
  await expect(refused).toContainText('No access to the capability'); // the caller's own, and no outage
  await failing.getByRole('link', { name: /Provider/ }).click();
  await expect(page).toHaveURL(/\/admin\/upstreams#upstream-up-/);
  await page.goBack();
  await cause.getByRole('link', { name: app.name }).click();
  await expect(page).toHaveURL(`/admin/applications?q=${app.id}`);
  await expect(page.getByText(app.name).first()).toBeVisible();
  await page.goBack();
  await cause.getByRole('link', { name: eve.email }).click();
  await expect(page).toHaveURL(`/admin/users?q=${encodeURIComponent(eve.email)}`);
  await expect(page.getByText(eve.email).first()).toBeVisible();
});

test('journey: the worst owner of the week, and which of its applications', async ({ page, administrator, developer }) => {
  const { app, name } = await withFailures(administrator, developer, provider, 150);
  await page.goto('/admin');
  await expect(block(page, name)).toBeVisible();
  const journey = new Journey(page, 'worst owner of the week');
  await journey.click(page.getByRole('link', { name: 'Usage' }).first());
  const worst = page.locator('.standouts li').filter({ hasText: 'Most failures' });
  await expect(worst).toContainText(developer.email);
  await expect(worst).toContainText('151 of 153 calls failed (98.70%)');
  expect(journey.done().clicks).toBe(1);
  await worst.getByRole('link').click();
  await expect(page).toHaveURL(/by=applications&owner=[0-9a-f-]{36}&sort=failures$/);
  const lines = block(page, 'Applications').locator('tbody tr');
  await expect(lines).toHaveCount(2);
  await expect(lines.first()).toContainText(app.name);
  await expect(lines.first().getByRole('cell')).toContainText([app.name, '152', '150', '98.69%', /ms$/, '240', 'CNY 2.40']);
  await page.getByRole('button', { name: `Only ${developer.email}` }).click();
  await expect(page).toHaveURL('/admin/usage?by=applications&sort=failures');
});

test('usage is ordered by each figure and searched, and leads to the figures of a capability', async ({
  page,
  administrator,
  developer,
}) => {
  const { id, name, app, other } = await withFailures(administrator, developer, provider, 40);
  await page.goto('/admin/usage');
  await page.getByRole('searchbox', { name: 'Search by e-mail address' }).fill(developer.email);
  const lines = page.locator('.usage-table tbody tr');
  await expect(lines).toHaveCount(1);
  await expect(lines.getByRole('cell')).toContainText([`applications: 2, calling: 2`, '43', '41', '95.35%', /ms$/, '240', 'CNY 2.40']);
  await lines.getByRole('link').click();
  await expect(lines).toHaveCount(2);
  for (const [order, first] of [
    ['Highest failure rate', 'Old'],
    ['Most tokens', app.name],
    ['Highest cost', app.name],
  ] as const) {
    await page.getByLabel('Order').selectOption(order);
    await expect(lines.first()).toContainText(first);
    await expect(page.locator('th[aria-sort=descending]')).toHaveCount(1);
  }
  await page.getByRole('button', { name: 'Capabilities', exact: true }).click();
  await expect(page).toHaveURL('/admin/usage?by=capabilities&sort=cost');
  await expect(row(page, name)).toContainText('applications: 3, with failures: 3');
  await page.getByRole('button', { name: 'Upstreams', exact: true }).click();
  await expect(page.getByLabel('Order').locator('option')).toHaveText(['Most calls', 'Most failures', 'Highest failure rate']);
  await expect(row(page, 'Provider').first()).toBeVisible();
  await page.goto('/admin/usage?range=30d&by=capabilities&sort=failures');
  await row(page, name).getByRole('link').click();
  await expect(page).toHaveURL(`/admin/capabilities/${id}/figures?range=30d`);
  await expect(row(page, other.name)).toBeVisible();
});

test('a capability’s figures: last hour, reasons, applications, upstreams, first bytes, tokens and cost; to the editor and back', async ({
  page,
  administrator,
  developer,
}) => {
  const { id, name, app, other, eve } = await withFailures(administrator, developer, provider, 9);
  await page.goto(`/admin/capabilities/${id}`);
  await page.getByRole('link', { name: 'Figures', exact: true }).click();
  await expect(page).toHaveURL(`/admin/capabilities/${id}/figures`);
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await expect(page.locator('.tile').nth(0)).toContainText('13');
  await expect(page.locator('.tile').nth(2)).toContainText('11');
  await expect(page.locator('.tile').nth(4)).toContainText('Applications hit3of 3 that called; owners hit: 2');
  await expect(page.getByRole('group', { name: 'Last hour, against the hour before' })).toContainText(/Calls13 newFailures11 new/);
  await page.getByRole('link', { name: 'Failures 11' }).click();
  await expect(block(page, 'Why calls failed')).toBeFocused();
  await expect(block(page, 'Why calls failed').locator('tbody tr')).toHaveText([
    /Upstream answered 503.*1090\.9%/s,
    /No access to the capability.*19\.1%/s,
  ]);
  await expect(block(page, 'Applications, most failures first').locator('tbody tr').nth(0).getByRole('cell')).toContainText([
    app.name,
    developer.email,
    '11',
    '9',
    '81.82%',
    /\d\d:\d\d:\d\d/,
  ]);
  await expect(row(page, other.name)).toContainText(eve.email);
  const provided = block(page, 'Upstreams');
  await expect(row(page, 'Provider').getByRole('cell')).toContainText([/Provider/, '12', '10', '83.34%', '0', /ms$/, /ms$/, /ms$/, /ms$/]);
  await expect(provided).toContainText(/First byte\s*p50 .* ms.*12 calls with a first byte/);
  await expect(row(page, 'Own address, or none')).toContainText('1');
  await expect(block(page, 'Tokens')).toContainText('CNY');
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  await expect(page).toHaveURL(`/admin/capabilities/${id}/figures?range=30d`);
  await expect(page.getByRole('img', { name: /13 calls in all, 11 failures/ })).toBeVisible();
  await page.getByRole('link', { name: 'Edit capability' }).click();
  await expect(page).toHaveURL(`/admin/capabilities/${id}`);
});

test('a capability that does not exist has no figures, and a way back', async ({ page, administrator, expected }) => {
  expected.push(/ 404 /);
  void administrator;
  await page.goto('/admin/capabilities/nobody/figures');
  await expect(page.getByText('There is no such capability.')).toBeVisible();
  await page.getByRole('link', { name: 'Usage by capability' }).click();
  await expect(page).toHaveURL('/admin/usage?by=capabilities');
});

type Answer = { data: Schemas['FiguresOverview'] };

/** What the whole company does is more than a test can: its answer is changed on the way. */
async function withOverview(page: Page, change: (data: Schemas['FiguresOverview']) => void): Promise<void> {
  await page.route(/\/api\/admin\/statistics\/overview/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as Answer;
    change(body.data);
    await route.fulfill({ response: answer, json: body });
  });
}

const quiet = (data: Schemas['FiguresOverview']) => {
  data.now = { failures: 0, items: [], other: { reasons: 0, failures: 0 } };
  data.hours = {
    ...data.hours,
    lastHour: { calls: 12_345, failures: 0, successRate: 1, p95Ms: 842 },
    hourBefore: { calls: 263, failures: 4, successRate: 0.9847, p95Ms: 840 },
  };
};

test('when nothing fails the page is calm and shows it by figures; ten times as many is ×47', async ({ page, administrator }) => {
  void administrator;
  await withOverview(page, quiet);
  await page.goto('/admin');
  await expect(page.locator('.health-verdict')).toHaveText('All is well: no call of the last hour failed');
  const hour = page.getByRole('group', { name: 'Last hour, against the hour before' });
  await expect(hour).toContainText('12,345 ×47');
  await expect(hour).toContainText('100.00% +1.53 pp');
  await expect(page.locator('.failing')).toHaveCount(0);
  await expect(page.getByText(/updated \d+ s ago/)).toBeVisible();
});

test('where a provider is down and dozens fail, the worst are told and the rest at a click; single failures are not called an outage', async ({
  page,
  administrator,
}) => {
  void administrator;
  const at = new Date(Date.now() + 8 * 3_600_000).toISOString().replace('Z', '+08:00');
  let dozens = true;
  await withOverview(page, (data) => {
    const item = (n: number) => ({
      type: 'connection_failed' as const,
      code: 'upstream_unreachable',
      upstreamStatus: null,
      model: `gone-${n}`,
      name: '',
      failures: 100 - n,
      failuresBefore: 0,
      firstSeen: at,
      lastSeen: at,
      applicationCount: 1,
      ownerCount: 1,
      topApplications: [],
    });
    quiet(data);
    data.now = {
      failures: 0,
      items: dozens ? Array.from({ length: 30 }, (_, n) => item(n)) : [{ ...item(0), type: 'limited', code: 'rate_limited' }],
      other: { reasons: 0, failures: 0 },
    };
    data.hours.lastHour.failures = 3;
  });
  await page.goto('/admin');
  await expect(page.locator('.health-verdict')).toHaveText('30 capabilities are failing');
  await expect(page.locator('.failing')).toHaveCount(6);
  await expect(page.locator('.failing').first()).toContainText('gone-0');
  await page.getByRole('button', { name: 'Show all 30 capabilities that are failing' }).click();
  await expect(page.locator('.failing')).toHaveCount(30);
  dozens = false;
  await expect(page.locator('.health-verdict')).toHaveText('Nothing is failing now: only single calls failed, or it has ended'); // within a rhythm
  await expect(block(page, 'Other failures of the last hour')).toContainText('Rate limit reached');
});

test('unknown is — and never 0: without calls, and an hour in which calls stopped is not called well', async ({ page, administrator }) => {
  void administrator;
  await withOverview(page, (data) => {
    quiet(data);
    data.hours.lastHour = { calls: 0, failures: 0, successRate: null, p95Ms: null };
  });
  await page.goto('/admin');
  await expect(page.locator('.health-verdict')).toHaveText('No calls in the last hour, after 263 in the hour before');
  await expect(page.getByRole('group', { name: 'Last hour, against the hour before' })).toContainText(
    /Success rate— before 98\.47%.*p95— before 840 ms/,
  );
});

test('what is behind or stuck is said, and nothing is called well that cannot be known', async ({ page, administrator }) => {
  void administrator;
  await withOverview(page, (data) => {
    quiet(data);
    data.dataThrough = new Date(Date.now() - 3_600_000 + 8 * 3_600_000).toISOString().replace('Z', '+08:00');
  });
  await page.route(/\/api\/admin\/spools/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['SpoolPage'] };
    Object.assign(body.data.items[0]!, { state: 'silent', host: 'gateway-7' });
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto('/admin');
  await expect(page.locator('.health-verdict')).toHaveText('The figures are behind: how things stand is not known');
  await expect(page.getByRole('link', { name: /The statistics are (59|60) min \d\d s behind/ })).toBeVisible();
  await page.getByRole('link', { name: /Ingestion stands still.* gateway-7 \(1\)/ }).click();
  await expect(page).toHaveURL('/admin/spools');
});

test('the pages of figures pass axe and fit every width', async ({ page, administrator, developer }) => {
  const { id, name } = await withFailures(administrator, developer, provider, 40);
  await withBigOfficeFigures(page, await withLongCatalog(administrator), { id, name });
  for (const path of ['/admin', '/admin/usage', '/admin/usage?by=upstreams', `/admin/capabilities/${id}/figures`]) {
    await page.goto(path);
    await inEveryLook(
      page,
      async () => {
        await expect(page.locator('tbody tr').first()).toBeVisible();
        if (path !== '/admin') await expect(page.locator('.chart canvas')).toBeVisible();
      },
      async () => {
        await expectAccessible(page);
        for (const width of [390, 768, 1024, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await expect(() => expectNoSidewaysScroll(page)).toPass(); // a chart is drawn anew
        }
      },
    );
  }
});
