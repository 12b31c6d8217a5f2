import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { addDays, dayOf } from '../src/range/days';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, prefer, test } from './test';

type Schemas = components['schemas'];

/** A file's lines by its headings, read by RFC 4180 and nothing of ours. */
function read(text: string): Record<string, string>[] {
  expect(text.startsWith('\ufeff')).toBe(true);
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of text.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    lines.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\n') lines.push([]);
    if (end === '') break;
  }
  lines.pop();
  const [heads = [], ...rest] = lines;
  for (const line of rest) expect(line).toHaveLength(heads.length);
  return rest.map((line) => Object.fromEntries(heads.map((head, n) => [head, line[n]!])));
}

/** Presses the button of a place, and gives the file's name and lines. */
async function saved(page: Page, within: Locator | Page): Promise<{ name: string; lines: Record<string, string>[] }> {
  const [download] = await Promise.all([page.waitForEvent('download'), within.getByRole('button', { name: 'Download CSV' }).click()]);
  return { name: download.suggestedFilename(), lines: read(await readFile(await download.path(), 'utf8')) };
}

interface Amount {
  currency: string | null;
  amount: string | null;
  unpricedCalls: number;
}

/** What the API answered under a heading, as text. */
function answered(item: object, head: string): string {
  const [first = '', ...rest] = head.split('.');
  const value = (item as Record<string, unknown>)[first];
  if (Array.isArray(value) && rest.length > 0) {
    const all = value as Amount[];
    return String(
      rest[0] === 'unpricedCalls' ? (all[0]?.unpricedCalls ?? '') : (all.find(({ currency }) => currency === rest[0])?.amount ?? ''),
    );
  }
  if (rest.length > 0) return value === null ? '' : answered(value as object, rest.join('.'));
  if (Array.isArray(value)) return value.length === 0 ? '' : JSON.stringify(value);
  return value === null || value === undefined ? '' : String(value as string);
}

/** Each figure of each line is what the API answered, and nothing it answered is left out. */
function expectAnswers(lines: readonly Record<string, string>[], items: readonly object[]): void {
  expect(lines).toHaveLength(items.length);
  for (const [n, line] of lines.entries())
    for (const [head, text] of Object.entries(line)) expect(`${n} ${head}: ${text}`).toBe(`${n} ${head}: ${answered(items[n]!, head)}`);
  const firsts = new Set(Object.keys(lines[0] ?? {}).map((head) => head.split('.')[0]));
  for (const name of Object.keys(items[0] ?? {})) expect(firsts).toContain(name);
}

test('the tables of the overview and of an application are saved with the figures that the API answers', async ({
  page,
  developer,
  administrator,
}) => {
  await administrator.api('PUT', '/api/admin/prices', {
    capabilityId: CLAUDE,
    upstreamModel: 'none-answers-so',
    from: '2026-01-01',
    currency: 'USD',
    input: '0.000000000001',
    output: '3',
  });
  const app = await developer.createApplication('First');
  await developer.api('POST', `/api/applications/${app.id}/keys`, { name: 'Second, "key"' });
  await developer.calls(app.accessKey, 3);
  await developer.calls(app.accessKey, 2, { model: 'demo-error-500' });
  await developer.call(app.accessKey, { capability: CLAUDE, model: 'demo', path: '/v1/messages' });
  await developer.counted(6);
  const today = dayOf(Date.now());
  const week = `start=${addDays(today, -6)}&end=${today}`;
  const overview = await developer.api<Schemas['Overview']>('GET', `/api/statistics/applications/overview?${week}`);

  await page.goto('/');
  const models = await saved(page, page.getByRole('region', { name: 'By capability' }));
  expect(models.name).toBe(`capabilities-${addDays(today, -6)}-${today}.csv`);
  expectAnswers(models.lines, overview.models);
  const reasons = await developer.api<Schemas['OverviewReasons']>('GET', `/api/statistics/applications/overview/reasons?${week}`);
  expectAnswers((await saved(page, page.getByRole('region', { name: 'Why calls failed' }))).lines, reasons.items);
  const daily = page.getByRole('region', { name: 'Daily trend', exact: true });
  await daily.getByRole('button', { name: 'Table' }).click();
  expectAnswers((await saved(page, daily)).lines, overview.daily);

  await page.goto(`/applications/${app.id}?start=${today}&end=${today}`);
  const hours = await developer.api<Schemas['HourlyStatistics']>('GET', `/api/statistics/applications/${app.id}/hourly?day=${today}`);
  const hourly = page.getByRole('region', { name: new RegExp(`^.*${today}.*$`) }).first();
  await hourly.getByRole('button', { name: 'Table' }).click();
  const file = await saved(page, hourly);
  expect(file.name).toBe(`hours-${today}.csv`);
  expectAnswers(
    file.lines,
    hours.hours.slice(0, file.lines.length), // those that have begun
  );
  const keys = await developer.api<{ items: object[] }>('GET', `/api/statistics/applications/${app.id}/keys?start=${today}&end=${today}`);
  const byKey = await saved(page, page.getByRole('region', { name: 'By key' }));
  expectAnswers(byKey.lines, keys.items);

  await page.goto(`/applications/${app.id}?tab=keys`);
  const listed = await developer.api<Schemas['KeyItems']>('GET', `/api/applications/${app.id}/keys`);
  const kept = await saved(page, page.getByRole('region', { name: 'Keys', exact: true }));
  expectAnswers(kept.lines, listed.items);
  expect(JSON.stringify(kept.lines)).not.toContain(app.accessKey);
});

test('a list is saved with all its pages, whatever its names are', async ({ page, developer }) => {
  const hostile = ["=cmd|' /C calc'!A0", '"quotes", and commas', '+1+1', '@SUM(1)', '＝1', 'x'.repeat(64), '客'.repeat(64), '-1'];
  for (const name of hostile) await developer.createApplication(name, []);
  for (let n = 0; n < 14; n++) await developer.createApplication(`Plain ${n}`, []);
  await page.goto('/applications');
  const { lines } = await saved(page, page.getByRole('region', { name: 'Applications' }));
  expect(lines).toHaveLength(22);
  const names = lines.map(({ name }) => name);
  for (const name of hostile.slice(0, 1).concat(hostile.slice(2, 5))) expect(names).toContain(`'${name}`);
  for (const name of [hostile[1], ...hostile.slice(5)]) expect(names).toContain(name);
  const pages = await Promise.all(
    [1, 2, 3].map((n) => developer.api<Schemas['ApplicationUsagePage']>('GET', `/api/statistics/applications?page=${n}`)),
  );
  const items = pages.flatMap((one) => one.items);
  expectAnswers(
    lines.map((line, n) => ({ ...line, name: items[n]!.name })),
    items,
  );
  expect(names.map((name) => name!.replace(/^'/, ''))).toEqual(items.map(({ name }) => name));
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});

test('the lists of the back office are saved with what the API answers', async ({ page, administrator, developer }) => {
  const app = await developer.createApplication('First');
  await developer.calls(app.accessKey, 2);
  await developer.calls(app.accessKey, 2, { model: 'demo-error-500' });
  await developer.counted(4);
  await administrator.api('PUT', '/api/admin/limits', { scope: 'owner', owner: developer.email, requestsPerMinute: 1000 });
  await administrator.api('PUT', '/api/admin/prices', {
    capabilityId: CHAT,
    upstreamModel: 'none-answers-so',
    from: '2026-01-01',
    currency: 'USD',
    input: '0.000000000001',
    cached: '0.1',
    output: '123456789.000000000001',
    amounts: { images: '0.04' },
  });
  const items = async (path: string) => (await administrator.api<{ items: object[] }>('GET', path)).items;

  const mine = `q=${encodeURIComponent(developer.email)}`;
  for (const [path, place, api] of [
    [`/admin/users?${mine}`, 'Users', `/api/admin/users?${mine}`],
    [`/admin/applications?${mine}`, 'Applications', `/api/admin/applications?${mine}`],
    [`/admin/limits?${mine}`, 'Limits', `/api/admin/limits?${mine}`],
    ['/admin/capabilities', 'Capabilities', '/api/admin/capabilities?size=100'],
  ] as const) {
    await page.goto(path);
    const { lines } = await saved(page, page.getByRole('region', { name: place, exact: true }));
    const answer = await items(api);
    expect(answer.length, path).toBeGreaterThan(0);
    expectAnswers(lines, answer);
  }
  await page.goto(`/admin/usage?by=applications&${mine}`);
  const usage = await saved(page, page.getByRole('region', { name: 'Applications', exact: true }));
  expectAnswers(usage.lines, await items(`/api/admin/statistics/applications?size=100&${mine}`));

  await page.goto(`/admin/prices?capability=${CHAT}`);
  const prices = await saved(page, page.getByRole('region', { name: 'Prices', exact: true }));
  const held = await items(`/api/admin/prices?capability=${CHAT}`);
  expect(held.length).toBeGreaterThan(0);
  expectAnswers(
    prices.lines,
    held.map((one, n) => ({ ...one, until: prices.lines[n]!['until'] || null, state: prices.lines[n]!['state'] })),
  );

  await page.goto('/admin/spools');
  const days = page.getByRole('region', { name: 'Days' });
  expectAnswers((await saved(page, days)).lines, await items('/api/admin/days'));
  await prefer(page, 'zh-CN');
  await page.reload();
  await expect(page.getByRole('button', { name: '下载 CSV' }).first()).toBeVisible();
  await expectAccessible(page);
});

test('a list that is cut says so, and a fault leaves no file', async ({ page, developer, expected }) => {
  expected.push(/ 503 /);
  await developer.createApplication('First', []);
  const rows = (await developer.api<Schemas['ApplicationUsagePage']>('GET', '/api/statistics/applications')) as unknown as Record<
    string,
    unknown
  >;
  await page.route('**/api/statistics/applications?*', (route) =>
    route.fulfill({ json: { code: 0, msg: 'ok', data: { ...rows, total: 5_000 } }, headers: { Date: new Date().toUTCString() } }),
  );
  await page.goto('/applications');
  const { lines } = await saved(page, page.getByRole('region', { name: 'Applications' }));
  expect(lines).toHaveLength(100); // a hundred pages of one
  await expect(page.getByText('The file has the first 100 of 5,000 rows.')).toBeVisible();
  await page.unroute('**/api/statistics/applications?*');
  await page.route('**/api/statistics/applications?*', (route) =>
    route.fulfill({ status: 503, json: { code: 50301, msg: 'down', data: null } }),
  );
  await page.getByRole('button', { name: 'Download CSV' }).click();
  await expect(page.getByText('A store is unavailable for now.').first()).toBeVisible();
});
