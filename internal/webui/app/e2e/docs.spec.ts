import { CHAT, expect, expectAccessible, expectNoSidewaysScroll, prefer, test } from './test';

// The page is served beside the pages of the console, under a policy of its own.

test('the HTTP interface can be read, operation by operation', async ({ page }) => {
  await page.goto('/docs');
  await expect(page.getByRole('heading', { name: 'Callgate', level: 1 })).toBeVisible();
  const operations = page.locator('.operation');
  expect(await operations.count()).toBeGreaterThan(50);
  await page.getByLabel('Filter').fill('access key');
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /Replace the Access Key/ })
    .click();
  await expect(page).toHaveURL('/docs#rotateAccessKey');
  await expect(page.locator('#rotateAccessKey')).toHaveAttribute('open');
  await expect(page.locator('#rotateAccessKey').getByText('The old one stops within 2 s')).toBeVisible();
  await expectAccessible(page);
});

test('a request is sent from the page, and its answer is shown', async ({ page, developer }) => {
  const application = await developer.createApplication('Tried from the page');
  const operation = (id: string) => page.locator(`#${id}`);
  const tryIt = async (id: string, status: string) => {
    await page.goto(`/docs#${id}`);
    await operation(id).getByRole('button', { name: 'Send' }).click();
    await expect(operation(id).locator('.answer')).toContainText(`\n\n${status}`);
  };

  await tryIt('getMe', '200'); // by the session's cookie
  await expect(operation('getMe').locator('.answer')).toContainText(developer.email);

  await page.goto('/docs#forwardPost');
  await page.getByLabel(/^Credential for tries/).fill(application.accessKey);
  await operation('forwardPost').getByLabel('model').fill(CHAT);
  await operation('forwardPost').getByRole('button', { name: 'Send' }).click();
  const answer = operation('forwardPost').locator('.answer');
  await expect(answer).toContainText('x-call-id: ');
  await expect(answer).toContainText('You said: Hello');
});

test('what a refused request was answered is shown with its request id', async ({ page, expected }) => {
  expected.push(/\/api\/applications .*401/);
  await page.goto('/docs#listApplications');
  await page.locator('#listApplications').getByRole('button', { name: 'Send' }).click();
  await expect(page.locator('#listApplications .answer')).toContainText(/401[^]*x-request-id: [^]*"code": 40101/);
});

test('the page of the HTTP interface has the theme that the console was told, and else the system’s', async ({ page }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/docs');
  expect(await ground()).toBe('rgb(255, 255, 255)');
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await ground()).toBe('rgb(20, 23, 27)');
  await prefer(page, 'en', 'light');
  await page.reload();
  expect(await ground()).toBe('rgb(255, 255, 255)');
  await prefer(page, 'en', 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.reload();
  expect(await ground()).toBe('rgb(20, 23, 27)');
  await expectAccessible(page);
});

test('the page of the HTTP interface fits a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/docs');
  await expectNoSidewaysScroll(page);
  await page.goto('/docs#listCalls');
  await expect(page.locator('#listCalls').getByLabel('start')).toBeVisible();
  await expectNoSidewaysScroll(page);
});

test('on a phone the page begins with its text, the contents unfold, lead somewhere visible and fold, and the console links to it', async ({
  page,
  developer,
}) => {
  void developer;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  await expect(page.getByRole('link', { name: 'API docs' })).toHaveAttribute('href', '/docs');
  await page.goto('/docs');
  await expect(page.getByRole('heading', { level: 1 })).toBeInViewport();
  expect((await page.locator('nav').boundingBox())!.height).toBeLessThan(64);
  const contents = page.getByRole('button', { name: 'Contents' });
  await contents.click();
  await page.getByLabel('Filter').fill('access key');
  const link = page.getByRole('navigation').getByRole('link', { name: /Replace the Access Key/ });
  const smallest = await page
    .locator('nav a:visible, nav button:visible, nav input:visible')
    .evaluateAll((all) => Math.min(...all.map((one) => one.getBoundingClientRect().height)));
  expect(smallest).toBeGreaterThanOrEqual(44);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, 'nav');
  await link.click();
  await expect(link).toBeHidden();
  const operation = page.locator('#rotateAccessKey');
  await expect(operation.locator('summary').first()).toBeInViewport();
  expect((await operation.boundingBox())!.y).toBeGreaterThanOrEqual((await page.locator('nav').boundingBox())!.height - 1);
  await contents.click();
  await expect(link).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(link).toBeHidden();
  await expect(contents).toBeFocused();
});
