import { button, dialog, few, patiently, shoot, twice, withCalls, withCatalog, withHistory, type Shot, type Words } from './shots';
import { test } from './test';

// Not tests: `make screenshots` writes every page and its states to screenshots/, which is ignored.
patiently();

test('sign-in', async ({ page }) => {
  await page.route('**/auth/code', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: null } }));
  const send = async (words: Words, email = 'lin@example.com') => {
    await page.getByLabel(words.session.email).fill(email);
    await button(page, words.session.send).click();
  };
  await shoot(page, 'sign-in', '/sign-in');
  await shoot(
    page,
    'sign-in-no-address',
    '/sign-in',
    few((words) => send(words, 'lin')),
  );
  await shoot(page, 'sign-in-code', '/sign-in', few(send));
  await shoot(
    page,
    'sign-in-wrong-code',
    '/sign-in',
    few(async (words) => {
      await send(words);
      await page.locator('.ant-otp-input').first().pressSequentially('000000');
      await page.getByText(words.session.wrong).waitFor();
    }),
  );
  await shoot(page, 'admin-sign-in', '/admin/sign-in', few());
  await shoot(page, 'docs', '/docs', { looks: twice, height: 900 });
});

test('sessions', async ({ page, developer, browser }) => {
  await shoot(page, 'sessions-one', '/sessions', few());
  for (const userAgent of [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Version/18.6 Mobile/15E148 Safari/604.1',
    'callgate-deploy/2.4 (+https://ci.example.com/callgate-deploy; production)',
  ]) {
    const elsewhere = await browser.newContext({ userAgent });
    await developer.alsoIn(elsewhere.request);
    await elsewhere.close();
  }
  await shoot(page, 'sessions', '/sessions');
  await shoot(
    page,
    'sessions-end',
    '/sessions',
    dialog(async (words) => {
      await button(page, words.session.sessions.endOthers).click();
      await page.getByRole('dialog').waitFor();
    }),
  );
});

test('management tokens', async ({ page, developer }) => {
  await shoot(page, 'tokens-none', '/tokens', few());
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  for (const [name, access, expiresAt] of [
    ['Nightly report', 'read', new Date(Date.now() + 80 * 86_400_000).toISOString()],
    ['Deploy_of_the_customer_service_pipelines_in_the_northern_region_', 'full', soon],
  ])
    await developer.api('POST', '/api/tokens', { name, access, expiresAt });
  await shoot(page, 'tokens', '/tokens');
  const create = async (words: Words) => {
    await button(page, words.management.create).first().click();
    await page.getByLabel(words.management.name, { exact: true }).fill('Dashboard');
  };
  await shoot(page, 'tokens-create', '/tokens', dialog(create));
  await shoot(
    page,
    'tokens-made',
    '/tokens',
    dialog(async (words) => {
      await create(words);
      await button(page, words.management.submit).click();
      await page.locator('.made-token').waitFor();
    }),
  );
});

test('session', async ({ page, context, developer }) => {
  void developer;
  const cookies = await context.cookies();
  await shoot(
    page,
    'session-expired',
    '/',
    dialog(async (words) => {
      await context.clearCookies({ name: /^(?!callgate_ui)/ });
      await page.route('**/api/statistics/**', (route) =>
        route.fulfill({ status: 401, json: { code: 40102, msg: 'expired', data: null } }),
      );
      await button(page, words.common.range.presets['30d']).click();
      await page.getByRole('dialog').waitFor();
      await context.addCookies(cookies);
      await page.unroute('**/api/statistics/**');
    }),
  );
});

test('overview', async ({ page, developer, administrator }) => {
  await withCatalog(administrator);
  await withCalls(developer);
  await withHistory(page);
  await shoot(page, 'overview', '/');
  await shoot(
    page,
    'overview-rate',
    '/',
    few((words) => button(page, words.common.chart.rate).click()),
  );
  await shoot(
    page,
    'overview-duration',
    '/',
    few((words) => button(page, words.common.chart.duration).click()),
  );
  await shoot(
    page,
    'overview-table',
    '/',
    few((words) => button(page, words.common.chart.table).click()),
  );
  await shoot(page, 'overview-30-days', '/?range=30d', few());
  await shoot(
    page,
    'overview-dates',
    '/',
    dialog(async (words) => {
      await button(page, words.common.range.custom).click();
      await page.locator('.ant-picker-dropdown').waitFor();
    }),
  );
  await shoot(
    page,
    'overview-menu',
    '/',
    dialog((words) =>
      page
        .getByRole('button', { name: new RegExp(`^${words.common.account.open}`) })
        .locator('visible=true')
        .click(),
    ),
  );
  await page.unrouteAll();
  const models = [
    'Chat large',
    'Chat small',
    'Demo chat',
    'Vision',
    'Demo messages',
    'Embedding v3',
    'Rerank',
    'Speech',
    'Translate',
    'Draw',
  ].map((name) => ({ model: name.toLowerCase().replace(' ', '-'), name }));
  await withHistory(page, { missed: 3, models: [...models.slice(0, 3), { model: '', name: '' }, ...models.slice(3)] });
  await shoot(page, 'overview-a-year', '/?start=2025-11-20&end=2026-11-20', few());
});

test('README', async ({ page, developer }) => {
  const { id } = await withCalls(developer);
  await withHistory(page);
  const one = (language: 'en' | 'zh-CN', theme: 'light' | 'dark', width: 1440 | 390, height: number): Shot => ({
    looks: [[language, theme, width]],
    height,
  });
  await shoot(page, 'readme-overview', '/', one('en', 'light', 1440, 900));
  await shoot(page, 'readme-phone', '/', one('zh-CN', 'dark', 390, 844));
  await shoot(page, 'readme-failure', `/applications/${id}`, {
    ...one('en', 'light', 1440, 900),
    prepare: async (words) => {
      await button(page, words.applications.log).first().click();
      await page.locator('.calls-table tr.call', { hasText: '429' }).first().click();
      await page.locator('.verdict').waitFor();
    },
  });
});
