import { randomUUID } from 'node:crypto';
import type { APIRequestContext, Page } from '@playwright/test';
import { Journey } from './journey';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

const OVERVIEW = '/api/statistics/applications/overview';

const rows = (page: Page) => page.locator('.management tbody tr');

/** What a program gets that has nothing but the token. */
async function ask(request: APIRequestContext, token: string, path: string, method = 'GET'): Promise<number> {
  const answer = await request.fetch(path, {
    method,
    headers: { Authorization: `Bearer ${token}` },
    data: method === 'GET' ? undefined : {},
  });
  return answer.status();
}

test('a token is made, told once, used and revoked', async ({ page, context, playwright, baseURL, developer }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await developer.createApplication('Search');
  await page.goto('/');
  const journey = new Journey(page, 'from anywhere to a management token');
  await journey.click(page.getByRole('button', { name: /^Account/ }).locator('visible=true'));
  await journey.click(page.getByRole('menuitem', { name: 'Management tokens' }));
  await expect(page).toHaveURL('/tokens');
  await expect(page).toHaveTitle('Management tokens · Callgate');
  await expect(page.getByText('There are no tokens yet.')).toBeVisible();

  await journey.click(page.getByRole('button', { name: 'New token' }));
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await expect(dialog.getByRole('button', { name: 'Create' })).toBeDisabled();
  await dialog.getByLabel('Name').fill('Dashboard');
  await expect(dialog).toContainText('changes nothing and sees no key');
  await dialog.getByLabel('Expires in').selectOption('366');
  await expectAccessible(page, '[role=dialog]');
  await journey.click(dialog.getByRole('button', { name: 'Create' }));
  await expect(dialog).toContainText('shown this once');
  await expectAccessible(page, '[role=dialog]');
  const token = (await dialog.locator('.made-token').textContent())!;
  expect(token).toMatch(/^cgm-[0-9A-Za-z]{49}$/);
  await page.keyboard.press('Escape'); // nothing could bring it back
  await expect(dialog).toBeVisible();
  await journey.click(dialog.getByRole('button', { name: 'Copy token' }));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
  await dialog.getByRole('button', { name: 'Copy with the token' }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toBe(
    `export CALLGATE_TOKEN='${token}'\ncurl '${new URL(page.url()).origin}${OVERVIEW}' \\\n  -H "Authorization: Bearer $CALLGATE_TOKEN"`,
  );
  await journey.click(dialog.getByRole('button', { name: 'Done' }));
  await expect(dialog).toBeHidden();
  expect(journey.done().clicks).toBeLessThanOrEqual(6);
  expect(await page.content()).not.toContain(token.slice(8, -4));
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText(new RegExp(`Dashboard.*Read.*cgm-${token.slice(4, 8)}…${token.slice(-4)}.*Never`, 's'));

  const program = await playwright.request.newContext({ baseURL: baseURL! });
  expect(await ask(program, token, OVERVIEW)).toBe(200);
  expect(await ask(program, token, '/api/applications')).toBe(200);
  expect(await ask(program, token, '/api/applications', 'POST')).toBe(403);
  expect(await ask(program, token, '/api/tokens')).toBe(403);
  expect(await ask(program, token, '/api/admin/users')).toBe(403);
  await page.reload();
  const row = rows(page).filter({ hasText: 'Dashboard' });
  await expect(row).not.toContainText('Never');

  await row.getByRole('button', { name: 'Revoke Dashboard' }).click();
  const asking = page.getByRole('dialog', { name: 'Revoke Dashboard?' });
  await expect(asking).toContainText('takes effect at once');
  await expectAccessible(page, '[role=dialog]');
  await asking.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(page.getByText('The token Dashboard is revoked.')).toBeVisible();
  await expect(page.getByText('There are no tokens yet.')).toBeVisible();
  expect(await ask(program, token, OVERVIEW)).toBe(401);
  await program.dispose();
});

test('a token of full access is made by the keyboard alone', async ({ page, playwright, baseURL, developer }) => {
  void developer;
  await page.goto('/tokens');
  await page.getByRole('button', { name: 'New token' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('button', { name: 'New token' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await page.keyboard.type('Deploy');
  await page.keyboard.press('Tab');
  await page.keyboard.press('F');
  await expect(dialog.getByLabel('Access')).toHaveValue('full');
  await expect(dialog).toContainText('showing and rotating keys included');
  await page.keyboard.press('Enter');
  const made = dialog.locator('.made-token');
  if (!(await made.isVisible())) {
    // A browser may open the list of a choice at Enter; the button does it everywhere.
    await dialog.getByRole('button', { name: 'Create' }).focus();
    await page.keyboard.press('Enter');
  }
  const token = (await made.textContent())!;
  const program = await playwright.request.newContext({ baseURL: baseURL! });
  const answer = await program.post('/api/applications', { headers: { Authorization: `Bearer ${token}` }, data: { name: 'By a script' } });
  expect(answer.status()).toBe(201);
  await program.dispose();
});

test('what is refused is told in the dialog, and an expired token is marked', async ({ page, developer, expected }) => {
  expected.push(/ 400 /, / 409 /);
  for (let n = 0; n < 20; n++)
    await developer.api('POST', '/api/tokens', {
      name: `Script ${n}`,
      access: 'read',
      expiresAt: new Date(Date.now() + (n === 0 ? 5_000 : 3_600_000 * 24 * 30)).toISOString(),
    });
  await page.goto('/tokens');
  await expect(rows(page)).toHaveCount(20);
  await page.getByRole('button', { name: 'New token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('a\u202eb');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByRole('alert')).toContainText('must not contain line separators or characters that turn');
  await dialog.getByLabel('Name').fill(randomUUID());
  await expect(async () => {
    await page.reload();
    await expect(rows(page).filter({ hasText: 'Script 0' }).getByText('Expired')).toBeVisible({ timeout: 1000 });
  }).toPass();
  await page.getByRole('button', { name: 'New token' }).click();
  await dialog.getByLabel('Name').fill('In its place');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(rows(page)).toHaveCount(20);
  await expect(rows(page).filter({ hasText: 'Script 0' })).toHaveCount(0);
  await page.getByRole('button', { name: 'New token' }).click();
  await dialog.getByLabel('Name').fill('One too many');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog).toContainText('the account has 20 management tokens, which is the most');
});

test('the page passes axe in both themes and languages and fits a phone', async ({ page, developer }) => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  for (const access of ['read', 'full']) await developer.api('POST', '/api/tokens', { name: 'A'.repeat(64), access, expiresAt: soon });
  await page.goto('/tokens');
  await inEveryLook(
    page,
    () => rows(page).nth(1).waitFor(),
    () => expectAccessible(page),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});
