import type { Page } from '@playwright/test';
import { expect, test, type Developer, type NewApplication } from './test';

const PLAIN = 'plain.example'; // neither https nor localhost, so a browser gives no clipboard

/** Opens a path as a browser of the intranet does: by plain HTTP and a name, under which some proxy answers. */
async function plainly(page: Page, baseURL: string, path: string): Promise<void> {
  const { host } = new URL(baseURL);
  await page
    .context()
    .addCookies(
      (await page.context().cookies()).map(({ name, value, path: at, httpOnly }) => ({ name, value, path: at, httpOnly, domain: PLAIN })),
    );
  await page.route(`http://${PLAIN}/**`, async (route) => {
    const { origin, ...headers } = route.request().headers();
    void origin;
    await route.fulfill({ response: await route.fetch({ url: route.request().url().replace(PLAIN, host), headers }) });
  });
  await page.goto(`http://${PLAIN}${path}`);
  expect(await page.evaluate(() => [isSecureContext, 'clipboard' in navigator])).toEqual([false, false]);
}

/** What the clipboard holds, as somebody would find out. */
async function pasted(page: Page): Promise<string> {
  await page.evaluate(() => {
    const field = Object.assign(document.createElement('textarea'), { id: 'pasted' });
    document.body.append(field);
    field.focus();
  });
  await page.keyboard.press('Control+v');
  const value = await page.locator('#pasted').inputValue();
  await page.evaluate(() => document.getElementById('pasted')!.remove());
  return value;
}

test.beforeEach(({ expected }) => void expected.push(/plain\.example/));

async function opened(page: Page, developer: Developer, baseURL: string): Promise<NewApplication> {
  const application = await developer.createApplication('Search');
  await plainly(page, baseURL, `/applications/${application.id}?tab=keys`);
  await expect(page.locator('code.key')).toHaveText(application.maskedAccessKey);
  return application;
}

test('key, id and samples are copied on plain HTTP, and the focus stays', async ({ page, developer, baseURL }) => {
  const { id, accessKey, maskedAccessKey } = await opened(page, developer, baseURL!);
  const copy = page.getByRole('button', { name: 'Copy key' });
  await copy.click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeFocused();
  expect(await pasted(page)).toBe(accessKey);
  await expect(page.locator('code.key')).toHaveText(maskedAccessKey);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Copy application id' }).click();
  expect(await pasted(page)).toBe(id);
});

test('what stands in a drawer is copied on plain HTTP, although the drawer holds the focus', async ({ page, developer, baseURL }) => {
  const application = await developer.createApplication('Search');
  const { callId } = await developer.call(application.accessKey, { model: 'demo-error-429' });
  await developer.counted(1);
  await plainly(page, baseURL!, `/applications/${application.id}`);
  await page
    .getByRole('button', { name: /^Call log/ })
    .first()
    .click();
  await page.locator('.calls-table tr.call').first().click();
  const detail = page.getByRole('region', { name: 'Failure detail' });
  await detail.locator('.across').filter({ hasText: callId }).getByRole('button', { name: 'Copy' }).click();
  await expect(detail.getByRole('button', { name: 'Copied' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(await pasted(page)).toBe(callId);
});

test('where nothing may copy, the key itself is shown selected, with a hint', async ({ page, developer, baseURL }) => {
  await page.addInitScript(() => (document.execCommand = () => false));
  const { accessKey } = await opened(page, developer, baseURL!);
  const copy = page.getByRole('button', { name: 'Copy key' });
  await copy.click();
  const dialog = page.getByRole('dialog', { name: 'Copy by hand' });
  await expect(dialog).toContainText('press Ctrl+C');
  await expect(dialog.getByRole('textbox')).toHaveValue(accessKey);
  expect(
    await dialog.getByRole('textbox').evaluate((field: HTMLTextAreaElement) => field.value.slice(field.selectionStart, field.selectionEnd)),
  ).toBe(accessKey);
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Escape');
  await expect(page.locator('.by-hand')).toHaveCount(0); // a closed dialog has no role before it is gone
  await expect(copy).toBeFocused();
  expect(await page.content()).not.toContain(accessKey);
  expect(await pasted(page)).toBe(accessKey);
});

test('a fetched key is copied where only the click itself may copy, as in Safari', async ({ page, context, developer }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    let inClick = false;
    document.addEventListener(
      'click',
      () => {
        inClick = true;
        setTimeout(() => (inClick = false));
      },
      true,
    );
    for (const name of ['write', 'writeText'] as const) {
      const own = navigator.clipboard[name].bind(navigator.clipboard) as (data: never) => Promise<void>;
      navigator.clipboard[name] = ((data: never) =>
        inClick ? own(data) : Promise.reject(new DOMException('not allowed', 'NotAllowedError'))) as never;
    }
    const command = document.execCommand.bind(document);
    document.execCommand = (name) => inClick && command(name);
  });
  const { id, accessKey, maskedAccessKey } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Copy key' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(accessKey);
  await expect(page.locator('code.key')).toHaveText(maskedAccessKey);
});

test('a key that cannot be fetched says why, and nothing is copied', async ({ page, developer, expected }) => {
  expected.push(/ 503 /);
  const { id } = await developer.createApplication('Search');
  await page.route('**/access-key', (route) => route.fulfill({ status: 503, json: { code: 50301, msg: 'down', data: null } }));
  await page.goto(`/applications/${id}?tab=keys`);
  await page.getByRole('button', { name: 'Copy key' }).click();
  await expect(page.locator('.notices')).toContainText('A store is unavailable for now.');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});
