import type { Locator, Page } from '@playwright/test';
import { addDays, dayOf } from '../src/range/days';
import { tile } from './figures';
import { openLog } from './log';
import { expect, test } from './test';

const today = () => dayOf(Date.now());
const statistics = /\/api\/statistics\/applications(\/[\w-]+)?(\/calls)?\?/;
const change = (page: Page): Locator => page.locator('.tile', { hasText: 'Calls' }).first().locator('dd .meta');
const row = (page: Page, name: string): Locator => page.getByRole('row').filter({ hasText: name });
const each = (calls: number) => ({
  calls,
  successes: calls,
  failures: 0,
  successRate: calls ? 1 : null,
  ...(calls ? { avgDurationMs: 100, p50Ms: 90, p95Ms: 200, p99Ms: 300 } : { avgDurationMs: null, p50Ms: null, p95Ms: null, p99Ms: null }),
});

interface Told {
  daily?: { date: string }[];
  summary?: object;
  calls?: number;
}

interface Said {
  collectedSince?: string;
  retainedFrom?: string;
  dataThrough?: string;
}

/** Answers with 10 calls on each day from the first that has records, and what `said` says of coverage; a test may change it. */
async function withCoverage(page: Page, said: Said): Promise<void> {
  await page.route(statistics, async (route) => {
    const first = [said.collectedSince?.slice(0, 10) ?? '', said.retainedFrom ?? ''].sort().at(-1)!;
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Told };
    const { data } = body;
    const calls =
      (data.daily ?? []).filter((day) => Object.assign(day, each(day.date >= first && day.date <= today() ? 10 : 0)).calls > 0).length * 10;
    if (data.daily) Object.assign(data.summary ?? data, each(calls));
    Object.assign(data, { collectedSince: '2020-01-01T00:00:00.000+08:00', retainedFrom: '2020-01-01', ...said });
    await route.fulfill({ response: answer, json: body });
  });
}

for (const [why, said] of [
  ['before collection began', () => ({ collectedSince: `${addDays(today(), -2)}T09:30:00.000+08:00` })],
  ['beyond retention', () => ({ retainedFrom: addDays(today(), -2) })],
] as const) {
  test(`days ${why} are a dash, not 0, and are not compared with`, async ({ page, developer }) => {
    await developer.createApplication('Search');
    await withCoverage(page, said());
    await page.goto('/');
    await expect(tile(page, 'Calls')).toHaveText('30'); // of three of the seven days
    await expect(change(page)).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Compare' })).toBeDisabled();
    await expect(
      page.getByText(
        why === 'beyond retention' ? `Kept from ${addDays(today(), -2)} on` : `Collected since ${addDays(today(), -2)} 09:30:00`,
      ),
    ).toBeVisible();
    await page.getByRole('button', { name: 'View as table' }).click();
    await expect(row(page, addDays(today(), -3)).getByRole('cell')).toHaveText([/-/, '—', '—', '—', '—', '—', '—', '—']);
    await expect(row(page, addDays(today(), -2)).getByRole('cell').nth(1)).toHaveText('10');
  });
}

test('a period that holds the hours before collection began is not compared with; one that begins at midnight after it is', async ({
  page,
  developer,
}) => {
  await developer.createApplication('Search');
  const firstOfBefore = addDays(today(), -13);
  const said: Said = { collectedSince: `${firstOfBefore}T00:00:00.001+08:00` };
  await withCoverage(page, said);
  await page.goto('/');
  await expect(tile(page, 'Calls')).toHaveText('70');
  await expect(page.getByRole('button', { name: 'Compare' })).toBeDisabled();
  said.collectedSince = `${firstOfBefore}T00:00:00.000+08:00`;
  await page.reload();
  await expect(change(page)).toHaveText('0.0%');
});

test('a range without any records has dashes on every page and says when records begin', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await withCoverage(page, { collectedSince: `${today()}T00:00:00.000+08:00` });
  const old = `?start=${addDays(today(), -9)}&end=${addDays(today(), -3)}`;
  for (const path of [`/${old}`, `/applications/${app.id}${old}`]) {
    await page.goto(path);
    for (const label of ['Calls', 'Success rate', 'Failures', 'Avg duration']) await expect(tile(page, label), path).toHaveText('—');
    await expect(page.getByText(`Nothing was recorded in this range: records begin on ${today()}.`)).toBeVisible();
  }
  await page.goto(`/applications${old}`);
  await expect(row(page, 'Search').locator('td.right')).toHaveText(['—', '—', '—', '—']);
  const drawer = await openLog(page, app);
  await drawer.getByRole('group', { name: 'Day' }).getByRole('button', { name: 'Yesterday' }).click();
  await expect(drawer.getByText(`Nothing was recorded on ${addDays(today(), -1)}: records begin on ${today()}.`)).toBeVisible();
  await expect(drawer.locator('.call-figures')).toContainText(/Calls —\s*Successes —\s*Failures —/);
});

const beijing = (instant: number) => `${new Date(instant + 8 * 3_600_000).toISOString().slice(0, 23)}+08:00`;

test('figures that have stood still since yesterday say the day, turn amber and say that calls are missing', async ({
  page,
  developer,
}) => {
  const { id } = await developer.createApplication('Search');
  const since = beijing(Date.now() - 26 * 3_600_000);
  await withCoverage(page, { dataThrough: since });
  for (const path of ['/', '/applications', `/applications/${id}`]) {
    await page.goto(path);
    const said = page.getByText(`Complete through ${since.slice(0, 19).replace('T', ' ')}`);
    await expect(said, path).toBeVisible();
    await expect(page.locator('.warned', { has: said }), path).toBeVisible();
    await expect(page.getByText('The figures are behind: calls that ended later are not in them yet.')).toBeVisible();
  }
});

test('a minute of delay is no alarm, more is; a day long past is whole; a wrong clock of the browser changes nothing', async ({
  page,
  developer,
}) => {
  await developer.createApplication('Search');
  const late = page.getByText('The figures are behind: calls that ended later are not in them yet.');
  const through = page.getByText(/^Complete through/);
  const said: Said = {};
  await withCoverage(page, said);
  const look = async (behind: number, query = '') => {
    said.dataThrough = beijing(Date.now() - behind);
    await page.goto(`/${query}`);
    await expect(through).toBeVisible();
  };
  await look(40_000);
  await expect(late).toHaveCount(0);
  await look(90_000);
  await expect(late).toBeVisible();
  const past = addDays(today(), -5);
  await look(26 * 3_600_000, `?start=${past}&end=${past}`); // whole long before it stood still
  await expect(late).toHaveCount(0);
  delete said.dataThrough;
  for (const wrong of [-2, 2]) {
    await page.clock.setFixedTime(Date.now() + wrong * 3_600_000);
    await page.goto('/applications');
    await expect(through).toBeVisible();
    await expect(late).toHaveCount(0);
  }
});
