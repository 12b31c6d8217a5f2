import type { Page } from '@playwright/test';
import { expect, expectAccessible, inEveryLook, test } from './test';

const account = (page: Page) => page.getByRole('button', { name: /^Account/ }).locator('visible=true');
const heading = (page: Page) => page.getByRole('heading', { name: 'What’s new', level: 1 });

test('news are told by a dot until they were looked at, beside the version in the account’s menu', async ({ page, developer }) => {
  void developer;
  const fetched: string[] = [];
  page.on('request', (request) => void fetched.push(request.url()));
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await expect(account(page)).toHaveAccessibleName(/ · There is news$/);
  await expect(account(page).locator('.dot')).toBeVisible();
  const { version } = (await (await page.request.get('/api/config')).json()).data;
  await account(page).click();
  const link = page.getByRole('menuitem', { name: /^What’s new/ });
  await expect(link).toContainText(version);
  expect(fetched.filter((url) => /WhatsNew/.test(url))).toEqual([]); // fetched when it is asked for
  await link.click();
  await expect(page).toHaveURL('/whats-new');
  await expect(heading(page)).toBeVisible();
  await expect(page.getByText(`Version ${version}`)).toBeVisible();
  await expect(page.locator('.dot')).toHaveCount(0);
  const days = await page.locator('main time').allTextContents();
  expect(days.length).toBeGreaterThan(1);
  expect(days).toEqual([...days].sort().reverse());
  await page.getByRole('link', { name: 'Alerts', exact: true }).filter({ visible: true }).last().click();
  await expect(page).toHaveURL('/alerts');
  await page.reload();
  await expect(account(page)).toHaveAccessibleName(/^Account: \S+$/);
  await page.getByRole('button', { name: 'Language: 中文' }).locator('visible=true').click();
  await expect(page.getByRole('heading', { name: '告警', level: 1 })).toBeVisible();
  await expect(page.locator('.dot')).toHaveCount(0); // kept beside the language
  expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
});

test('administrators read what came to the back office and to developers', async ({ page, administrator }) => {
  void administrator;
  await page.goto('/admin');
  await account(page).click();
  await page.getByRole('menuitem', { name: /^What’s new/ }).click();
  await expect(page).toHaveURL('/admin/whats-new');
  await expect(page.getByRole('heading', { name: 'For administrators' }).first()).toBeVisible();
  await expect(page.getByRole('heading', { name: 'For developers' }).first()).toBeVisible();
  for (const to of await page.locator('main dt a').evaluateAll((links) => links.map((link) => link.getAttribute('href')!)))
    expect(to).toMatch(/^\/admin(\/|$)/);
});

test('the pages of news pass axe in both themes and languages, and so does the open menu', async ({ page, developer, administrator }) => {
  void developer;
  void administrator;
  for (const path of ['/whats-new', '/admin/whats-new']) {
    await page.goto(path);
    await inEveryLook(
      page,
      () => page.locator('.news h1').waitFor(),
      async () => {
        await expectAccessible(page);
        await page.locator('.place[aria-haspopup=menu]').locator('visible=true').last().click();
        await page.getByRole('menu').waitFor();
        await expectAccessible(page);
        await page.keyboard.press('Escape');
      },
    );
  }
});
