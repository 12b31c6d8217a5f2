import type { Page } from '@playwright/test';
import { LIMITS, MOST } from '../src/limits/limits';
import { coveredByTabs, lasting, layoutFaults } from './layout';
import { withBigFigures, withBigOfficeFigures, withLongApplications, withLongCatalog } from './long';
import { settled } from './shape';
import { expect, test } from './test';
import { consoleViews, everyWidth, figuresViews, officeViews, pictures, strangerViews, type View } from './widths';

/** What breaks in these views at 390, 768, 1024 and 1440 px. */
async function broken(page: Page, views: readonly View[]): Promise<string[]> {
  const found: string[] = [];
  await everyWidth(page, views, async (what) => {
    await settled(page);
    const faults = await lasting(async () => [...(await layoutFaults(page)), ...(await coveredByTabs(page))]);
    if (what.endsWith('-390')) {
      // a short phone
      await page.setViewportSize({ width: 390, height: 640 });
      faults.push(...(await lasting(() => coveredByTabs(page))));
    }
    found.push(...faults.map((fault) => `${what}: ${fault}`));
    if (pictures) await page.screenshot({ path: `${pictures}/${what}.png`, fullPage: true });
  });
  return found;
}

test.beforeEach(({ expected }) => {
  test.setTimeout(pictures ? 1_800_000 : 300_000); // over a hundred layouts
  expected.push(/ 401 /); // the long capability's key is wrong
});

for (const [from, to] of [
  [0, 3],
  [3, 7],
  [7, 11],
  [11, 15],
  [15, 19],
  [19, 24],
] as const) {
  test(`the console's pages ${from + 1} to ${to} fit every width with the longest names and 10⁷ calls: nothing overlaps, sticks out or is covered`, async ({
    page,
    developer,
    administrator,
  }) => {
    const catalog = await withLongCatalog(administrator);
    const app = await withLongApplications(developer, catalog);
    await withBigFigures(page, catalog);
    expect(await broken(page, consoleViews(app.id, catalog).slice(from, to))).toEqual([]);
  });
}

test('the back office fits every width with the longest names: nothing overlaps, sticks out or is covered', async ({
  page,
  developer,
  administrator,
}) => {
  await administrator.api('PUT', '/api/admin/limits', {
    scope: 'owner',
    owner: developer.email,
    ...Object.fromEntries(LIMITS.map((name) => [name, MOST])),
  });
  expect(await broken(page, officeViews(await withLongCatalog(administrator)))).toEqual([]);
});

test('the back office’s figures fit every width with the longest names and 10⁷ calls: nothing overlaps, sticks out or is covered', async ({
  page,
  administrator,
}) => {
  const catalog = await withLongCatalog(administrator);
  await withBigOfficeFigures(page, catalog);
  expect(await broken(page, figuresViews(catalog))).toEqual([]);
});

test('the sign-in fits every width', async ({ page }) => {
  expect(await broken(page, strangerViews)).toEqual([]);
});
