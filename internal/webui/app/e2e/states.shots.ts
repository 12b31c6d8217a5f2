import { button, dialog, few, patiently, shoot, twice } from './shots';
import { CHAT, test } from './test';

// As pages.shots.ts, for pages without anything to show.
const down = { status: 503, json: { code: 50301, msg: 'a store is unavailable', data: null } };
patiently();

test('empty', async ({ page, developer }) => {
  await shoot(page, 'empty-overview', '/');
  await shoot(page, 'empty-applications', '/applications', few());
  await shoot(page, 'empty-capability', `/capabilities/${CHAT}`, few());
  await shoot(page, 'empty-try', `/capabilities/${CHAT}?tab=try`, few());
  await shoot(page, 'not-found', '/nowhere', few());
  await shoot(page, 'application-gone', '/applications/01a1fcb5-9fd1-74b3-bae1-e776754fef70', few());
  const { id } = await developer.createApplication('Search assistant', []);
  await shoot(page, 'no-calls-overview', '/', few());
  await shoot(page, 'no-calls-application', `/applications/${id}`, few());
  await shoot(
    page,
    'no-calls-log',
    `/applications/${id}`,
    dialog(async (words) => {
      await button(page, words.applications.log).click();
      await page.locator('.call-drawer .empty').waitFor();
    }),
  );
  await shoot(page, 'applications-past-the-end', '/applications?page=9', few());
  await page.route('**/api/capabilities', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: { items: [] } } }));
  await shoot(page, 'empty-capabilities', '/capabilities', few());
});

test('error and loading', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search assistant');
  const places = [
    ['overview', '/'],
    ['applications', '/applications'],
    ['application', `/applications/${id}`],
  ] as const;
  await page.route('**/api/statistics/**', () => undefined);
  for (const [name, url] of places)
    await shoot(page, `loading-${name}`, url, {
      looks: twice,
      waiting: true,
      prepare: () => page.locator('.bone').locator('visible=true').first().waitFor(),
    });
  await page.unroute('**/api/statistics/**');
  await page.route('**/api/statistics/**', (route) => route.fulfill(down));
  for (const [name, url] of places)
    await shoot(
      page,
      `error-${name}`,
      url,
      few(() => page.getByRole('alert').first().waitFor()),
    );
  await shoot(
    page,
    'error-log',
    `/applications/${id}`,
    dialog(async (words) => {
      await button(page, words.applications.log).first().click();
      await page.locator('.call-drawer').getByRole('alert').waitFor();
    }),
  );
});
