import type { Page } from '@playwright/test';
import { calls, figures, listed, openLog, part } from './log';
import { held } from './shape';
import { expect, test } from './test';

const composing = { isComposing: true, bubbles: true };
const composed = { keyCode: 229, bubbles: true }; // Safari, for the key that ends a word

test('D pressed faster than pages come skips none', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const made: string[] = [];
  for (let n = 0; n < 21; n++) made.push((await developer.call(app.accessKey, { model: 'demo-error-500' })).callId);
  await developer.counted(21);
  const failed = await listed(developer, app, made, 'failure');
  const drawer = await openLog(page, app);
  await drawer.getByRole('button', { name: /^Failures/ }).click();
  await expect(figures(page)).toContainText('Failures 21');
  await calls(page).nth(9).click();
  const id = drawer.locator('.failure dd.mono').first();
  await expect(id).toContainText(failed[9]!);
  const arrive = await held(page, /\/calls\?.*page=2/);
  for (let n = 0; n < 3; n++) await page.keyboard.press('d');
  arrive();
  await expect(id).toContainText(failed[10]!);
  for (let n = 11; n < 21; n++) {
    await page.keyboard.press('d');
    await expect(id).toContainText(failed[n]!);
  }
});

test('› of the failures keeps the focus, at the last one too', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const failed: string[] = [];
  for (let n = 0; n < 3; n++) failed.unshift((await developer.call(app.accessKey, { model: 'demo-error-500' })).callId);
  await developer.counted(3);
  const drawer = await openLog(page, app);
  await calls(page).first().click();
  const next = part(page, 'Failure detail').getByRole('button', { name: 'Next failure (D)' });
  await next.focus();
  for (const id of failed.slice(1)) {
    await page.keyboard.press('Enter');
    await expect(drawer.locator('.failure dd.mono').first()).toContainText(id);
    await expect(next).toBeFocused();
  }
  await page.keyboard.press('Enter');
  await expect(drawer.locator('.failure dd.mono').first()).toContainText(failed[2]!);
});

test('‹ and › of the range keep the focus at their end, and so do the calendar and a day of the table', async ({ page, developer }) => {
  const { id, accessKey } = await developer.createApplication('Search');
  await developer.calls(accessKey, 1);
  await developer.counted(1);
  await page.goto(`/applications/${id}`);
  const later = page.getByRole('button', { name: 'Later' });
  await page.getByRole('button', { name: 'Earlier' }).click();
  await expect(page).toHaveURL(/start=/);
  await expect(later).toBeEnabled(); // drawn after the address changed
  await later.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/applications/${id}`);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await expect(later).toBeFocused();
  const dates = page.locator('.range-span');
  await dates.focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.ant-picker-dropdown')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('.range-dates')).toHaveCount(0);
  await expect(dates).toBeFocused();
  await page.getByRole('button', { name: 'View as table' }).click();
  const read = page.waitForResponse(`**/api/statistics/applications/${id}?*`);
  await page.locator('.chart-days tbody button').last().press('Enter');
  await read;
  await expect(page.locator('.chart-days tbody tr')).toHaveCount(0); // gone, and the button with it
  await expect(dates).toBeFocused();
});

test('arrows move a block that scrolls, and not the range', async ({ page, developer }) => {
  void developer;
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto('/');
  const code = page.locator('.code pre');
  await expect(code).toContainText('curl');
  await code.focus();
  expect(await code.evaluate((block) => block.scrollWidth > block.clientWidth)).toBe(true);
  const moved = () => code.evaluate((block) => block.scrollLeft);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect.poll(moved).toBeGreaterThan(0);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(moved).toBe(0);
  await expect(page).toHaveURL('/');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(/start=/);
});

async function press(page: Page, selector: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) for (const how of [composing, composed]) await page.locator(selector).dispatchEvent('keydown', { key, ...how });
}

test('Enter and Escape of a word being composed neither keep, leave nor close', async ({ page, administrator, developer }) => {
  const name = `Pinyin ${Date.now()}`;
  await administrator.api('POST', '/api/admin/groups', { name, sortOrder: 5000 });
  await page.goto('/admin/groups');
  await page.getByRole('button', { name: `Rename ${name}` }).click();
  const field = page.getByLabel('Name', { exact: true });
  await field.fill(`${name} zhong`);
  await press(page, '.table .input', ['Enter', 'Escape']);
  await expect(field).toHaveValue(`${name} zhong`);
  await expect(field).toBeEnabled();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: `Rename ${name}` })).toBeFocused();
  await page.getByRole('button', { name: 'New group' }).click();
  await field.fill('zhong');
  await press(page, '#group-name', ['Escape']);
  await expect(field).toHaveValue('zhong');
  await page.goto('/capabilities?q=zhong');
  await press(page, 'input[type=search]', ['Escape']);
  await expect(page.getByRole('searchbox')).toHaveValue('zhong');
  void developer;
});

test('a renamed group has the focus again', async ({ page, administrator }) => {
  const name = `Focus ${Date.now()}`;
  await administrator.api('POST', '/api/admin/groups', { name, sortOrder: 5000 });
  await page.goto('/admin/groups');
  await page.getByRole('button', { name: `Rename ${name}` }).press('Enter');
  await page.getByLabel('Name', { exact: true }).fill(`${name} anew`);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: `Rename ${name} anew` })).toBeFocused();
});
