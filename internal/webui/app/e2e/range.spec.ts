import { expect, test } from './test';
import { tile } from './figures';
import { addDays, dayOf } from '../src/range/days';
import { before, presetOf } from '../src/range/range';

const today = () => dayOf(Date.now());
const overview = '**/api/statistics/applications/overview?*';

test('the range is kept in the URL over a reload, and keys choose it', async ({ page, developer }) => {
  await developer.createApplication('Quiet');
  await page.goto('/');
  await expect(tile(page, 'Calls')).toBeVisible();
  const asked = page.waitForRequest((request) => request.url().includes(`start=${addDays(today(), -29)}&end=${today()}`));
  await page.keyboard.press('t');
  await expect(page).toHaveURL('/?range=30d');
  await asked;
  await page.reload();
  await expect(page.getByRole('button', { name: 'Last 30 days' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(`/?start=${addDays(today(), -59)}&end=${addDays(today(), -30)}`);
  await expect(page.getByRole('button', { name: 'Later' })).toBeEnabled();
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL('/?range=30d');
  await expect(page.getByRole('button', { name: 'Later' })).toBeDisabled();
  await page.keyboard.press('w');
  await expect(page).toHaveURL('/');
  await page.goBack();
  await expect(page).toHaveURL('/?range=30d');
  await expect(page.getByRole('button', { name: 'Last 30 days' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('c');
  await expect(page.locator('.ant-picker-dropdown')).toBeVisible();
  await page.keyboard.press('w'); // typed into the field, no key of the page
  await page.keyboard.press('Escape');
  await expect(page.locator('.ant-picker-dropdown')).toBeHidden();
  await expect(page).toHaveURL('/?range=30d');
});

test('this and the last month are asked for with the same days of the month before, and are stepped through by months', async ({
  page,
  developer,
}) => {
  await developer.createApplication('Quiet');
  await page.route(overview, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: object };
    Object.assign(body.data, { collectedSince: '2020-01-01T00:00:00.000+08:00' });
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto('/');
  await expect(tile(page, 'Calls')).toBeVisible();
  for (const [name, key, preset] of [
    ['This month', 'm', 'month'],
    ['Last month', 'l', 'last-month'],
  ] as const) {
    const range = presetOf(preset, today());
    const asked = [range, before(range)].map(({ start, end }) =>
      page.waitForRequest((request) => request.url().includes(`overview?start=${start}&end=${end}`)),
    );
    await page.keyboard.press(key);
    await expect(page).toHaveURL(`/?range=${preset}`);
    await Promise.all(asked);
    await expect(page.getByRole('button', { name })).toHaveAttribute('aria-pressed', 'true');
  }
  const { start, end } = before(presetOf('last-month', today()));
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(`/?start=${start}&end=${end}`);
  // The address is there before the page is: the next key counts from what stands.
  await expect(page.getByRole('button', { name: 'Custom' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL('/?range=last-month');
  await expect(page.getByRole('button', { name: 'Last month' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL('/?range=month');
  await expect(page.getByRole('button', { name: 'Later' })).toBeDisabled();
});

test('a custom range takes both ends, at most 366 days and none after today', async ({ page, developer }) => {
  void developer;
  await page.goto('/');
  await page.getByRole('button', { name: 'Custom' }).click();
  const popup = page.locator('.ant-picker-dropdown');
  await expect(popup).toBeVisible();
  await expect(popup.locator(`td[title="${today()}"]`).first()).toHaveClass(/ant-picker-cell-today/);
  await expect(popup.locator('th').first()).toHaveText(/^Mo/); // as in Chinese
  const tomorrow = popup.locator(`td[title="${addDays(today(), 1)}"]`).first();
  await expect(tomorrow).toHaveClass(/ant-picker-cell-disabled/);
  const [from, to] = [addDays(today(), -2), addDays(today(), -1)];
  await popup.locator(`td[title="${from}"]:not(.ant-picker-cell-disabled)`).first().click();
  const asked = page.waitForRequest((request) => request.url().includes(`start=${from}&end=${to}`));
  await popup.locator(`td[title="${to}"]:not(.ant-picker-cell-disabled)`).first().click();
  await asked;
  await expect(page).toHaveURL(`/?start=${from}&end=${to}`);
  await page.goto(`/?start=${addDays(today(), -365)}&end=${today()}`);
  await expect(page.getByRole('button', { name: 'Custom' })).toHaveAttribute('aria-pressed', 'true');
  for (const bad of [
    `start=${addDays(today(), -366)}&end=${today()}`,
    `start=${today()}&end=${addDays(today(), 1)}`,
    'range=8d',
    'start=2026-02-30&end=2026-03-01',
  ]) {
    await page.goto(`/?${bad}`);
    await expect(page, bad).toHaveURL('/');
    await expect(page.getByText('The range in the link is not valid; these are the last 7 days.')).toBeVisible();
  }
});

test('a click on a day shows that day', async ({ page, developer }) => {
  const { accessKey } = await developer.createApplication('Search');
  await developer.calls(accessKey, 2);
  await developer.counted(2);
  await page.goto('/');
  await page.getByRole('button', { name: 'View as table' }).click();
  await page.getByRole('button', { name: new RegExp(`^${today()}`) }).click();
  await expect(page).toHaveURL(`/?start=${today()}&end=${today()}`);
  await expect(tile(page, 'Calls')).toHaveText('2');
  await page.goto('/');
  const chart = page.getByRole('img', { name: /calls in all/ });
  await expect(chart.locator('canvas')).toBeVisible();
  const box = (await chart.boundingBox())!;
  await chart.click({ position: { x: box.width - 60, y: box.height - 60 } }); // the last of seven bars
  await expect(page).toHaveURL(`/?start=${today()}&end=${today()}`);
});
