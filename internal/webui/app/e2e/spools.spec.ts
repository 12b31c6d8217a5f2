import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

type Spool = components['schemas']['Spool'];

const at = '2026-08-17T09:31:00.000+08:00';
const lost: Spool = {
  id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3',
  host: 'gateway-with-a-name-as-long-as-kubernetes-makes-them-7d9f8b6c5-x2x',
  state: 'silent',
  through: at,
  reportedAt: at,
  role: 'gateway',
  version: '1.4.0',
  startedAt: at,
  lastSeenAt: at,
  oldestAt: at,
  heldBytes: 48_210,
  heldCalls: 12_345_678,
  retiredAt: null,
  retiredBy: null,
  missedCalls: null,
};
const retired = (spool: Spool): Spool => ({
  ...spool,
  state: 'retired',
  retiredAt: at,
  retiredBy: 'root@example.com',
  missedCalls: spool.heldCalls,
});

/** Answers with the product's spools and one of a gateway that is lost, which can be given up. */
async function withLost(page: Page, spool: Spool = lost): Promise<void> {
  let now = spool;
  await page.route('**/api/admin/spools?*', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { items: Spool[]; total: number } };
    body.data.items.unshift(
      now,
      { ...spool, id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f4', state: 'adopted' },
      { ...retired(spool), id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f5' },
    );
    body.data.total += 3;
    await route.fulfill({ response: answer, json: body });
  });
  await page.route('**/api/admin/spools/*/retire', async (route) => {
    now = retired(spool);
    await route.fulfill({ json: { code: 0, msg: 'ok', data: now } });
  });
}

test('the spool of the running gateway is listed as live, and cannot be given up', async ({ page, administrator }) => {
  const { items } = await administrator.api<components['schemas']['SpoolPage']>('GET', '/api/admin/spools');
  expect(items).toHaveLength(1);
  await page.goto('/admin/audit');
  await page.getByRole('link', { name: 'Ingestion' }).locator('visible=true').click();
  await expect(page).toHaveURL('/admin/spools');
  const row = page.getByRole('row').filter({ hasText: items[0]!.id });
  await expect(row).toContainText('Live');
  await expect(row).toContainText(/Calls: [\d,]+/);
  await expect(row.getByRole('button')).toHaveCount(0);
});

test('a lost spool is given up once its name is typed, and what it takes with it is said before and after', async ({
  page,
  administrator,
}) => {
  void administrator;
  await withLost(page);
  await page.goto('/admin/spools');
  const row = page.getByRole('row').filter({ hasText: lost.id });
  await expect(row).toContainText('Silent');
  await expect(row).toContainText('Calls: 12,345,678 · 48 KB');
  await row.getByRole('button', { name: `Retire ${lost.host}` }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Calls it held when last seen, which then count as missed: 12,345,678.');
  await expectAccessible(page, '[role=dialog]');
  const give = dialog.getByRole('button', { name: 'Retire' });
  await expect(give).toBeDisabled();
  await dialog.getByRole('textbox').fill(lost.host);
  await give.click();
  await expect(row).toContainText('Retired');
  await expect(row).toContainText('Missed calls: 12,345,678');
  await expect(row).toContainText('root@example.com');
  await expect(row.getByRole('button')).toHaveCount(0);
});

test('how many calls a lost spool held is not made up where nobody knows', async ({ page, administrator }) => {
  void administrator;
  await withLost(page, {
    ...lost,
    role: null,
    version: null,
    startedAt: null,
    lastSeenAt: null,
    oldestAt: null,
    heldBytes: null,
    heldCalls: null,
  });
  await page.goto('/admin/spools');
  const row = page.getByRole('row').filter({ hasText: lost.id });
  await expect(row).toContainText('Number of calls not known');
  await row.getByRole('button').click();
  await expect(page.getByRole('dialog')).toContainText('How many calls it held is not known.');
});

test('a spool that a gateway reports again meanwhile is not given up, and the dialog says so', async ({
  page,
  administrator,
  expected,
}) => {
  expected.push(/ 409 /);
  void administrator;
  await withLost(page);
  await page.route('**/api/admin/spools/*/retire', (route) =>
    route.fulfill({ status: 409, json: { code: 40901, msg: 'this spool is in use', data: null, requestId: 'r' } }),
  );
  await page.goto('/admin/spools');
  await page.getByRole('button', { name: /^Retire / }).click();
  await page.getByRole('dialog').getByRole('textbox').fill(lost.host);
  await page.getByRole('dialog').getByRole('button', { name: 'Retire' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeVisible();
});

test('spools fit every width and theme in both languages', async ({ page, administrator }) => {
  void administrator;
  await withLost(page);
  for (const width of [390, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/admin/spools');
    await inEveryLook(
      page,
      () => expect(page.getByText(lost.id)).toBeVisible(),
      async () => {
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
      },
    );
  }
});

type Day = components['schemas']['ClosedDay'];

const held: Day = {
  day: '2026-08-17',
  state: 'open',
  since: null,
  revision: 0,
  closedAt: null,
  waitsFor: 'spools',
  heldBy: [{ id: lost.id, host: lost.host, through: at, silent: true }],
  applicationCount: null,
  calls: null,
  failures: null,
  missingCalls: null,
  spools: [],
};
const closed: Day = {
  ...held,
  day: '2026-08-16',
  state: 'closed',
  since: at,
  revision: 1,
  closedAt: at,
  waitsFor: null,
  heldBy: [],
  applicationCount: 12,
  calls: 12_345_678,
  failures: 16,
  missingCalls: 0,
};

test('how the days stand is told: what holds one up, what one came to, what is missing of it, and that one is open again', async ({
  page,
  administrator,
}) => {
  const real = await administrator.api<components['schemas']['ClosedDayItems']>('GET', '/api/admin/days');
  expect(real.items[0]).toMatchObject({ state: 'open', waitsFor: 'time' });
  const gone = { id: lost.id, host: 'gateway-9', retiredAt: at, retiredBy: 'root@example.com', calls: null };
  const items = [
    held,
    closed,
    { ...closed, day: '2026-08-15', state: 'reopened', waitsFor: 'check' },
    { ...closed, day: '2026-08-14', revision: 2, missingCalls: 512, spools: [gone] },
  ];
  await page.route('**/api/admin/days', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: { items } } }));
  await page.goto('/admin/spools');
  const days = page.getByRole('region', { name: 'Days' }).getByRole('listitem');
  await expect(days.nth(0)).toContainText(/2026-08-17.*Open.*held up by gateway-with.*\(silent\)/);
  await expect(days.nth(1)).toContainText(/2026-08-16.*Closed.*Calls: 12,345,678 · failures: 16 · applications: 12.*closing no\. 1/);
  await expect(days.nth(1)).not.toContainText('Missing');
  await expect(days.nth(2)).toContainText(/Reopened.*being compared with its calls/);
  await expect(days.nth(3)).toContainText(/Missing calls: 512 and an unknown number from gateway-9.*closing no\. 2/);
  for (const width of [390, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await inEveryLook(
      page,
      () => expect(page.getByText('2026-08-14')).toBeVisible(),
      async () => {
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
      },
    );
  }
});
