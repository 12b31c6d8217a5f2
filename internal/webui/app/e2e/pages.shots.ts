import type { Page } from '@playwright/test';
import { button, shoot, twice, withCalls, withCatalog, withHistory, type Shot, type Words } from './shots';
import { dayOf } from '../src/range/days';
import { CHAT, test, type Administrator } from './test';

// Not tests: `make screenshots` writes every page and its states to screenshots/, which is ignored.
const down = { status: 503, json: { code: 50301, msg: 'a store is unavailable', data: null } };
const few = (prepare?: Shot['prepare']): Shot => ({ looks: twice, ...(prepare ? { prepare } : {}) });
const dialog = (prepare: NonNullable<Shot['prepare']>): Shot => ({ looks: twice, prepare, height: 900 });

test.beforeEach(({ page, expected }) => {
  expected.push(/./);
  page.setDefaultTimeout(120_000);
  test.setTimeout(1_800_000);
});

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

test('applications', async ({ page, developer, administrator }) => {
  await withCatalog(administrator);
  for (let n = 1; n <= 8; n++) await developer.createApplication(`Batch job ${n}`);
  const off = await developer.createApplication('Retired chat robot of the customer service department, north');
  const { id } = await withCalls(developer);
  await developer.api('PATCH', `/api/applications/${off.id}/status`, { status: 'disabled' });
  await developer.api('PATCH', `/api/applications/${id}`, {
    description: 'Answers questions in the search bar of the shop.',
    capabilityIds: [CHAT, 'demo-claude', 'chat-small'],
  });
  await withHistory(page);
  await shoot(page, 'applications', '/applications');
  await shoot(
    page,
    'applications-menu',
    '/applications',
    few((words) => button(page, words.applications.actions.replace('{{name}}', 'Nightly reports')).locator('visible=true').click()),
  );
  const ask = (what: 'disable' | 'delete') =>
    dialog(async (words) => {
      await button(page, words.applications.actions.replace('{{name}}', 'Nightly reports')).locator('visible=true').click();
      await page.getByRole('menuitem', { name: words.applications[what], exact: true }).click();
      await page.getByRole('dialog').waitFor();
    });
  await shoot(page, 'application-disable', '/applications', ask('disable'));
  await shoot(page, 'application-delete', '/applications', ask('delete'));
  await shoot(page, 'application', `/applications/${id}`);
  await shoot(
    page,
    'application-key',
    `/applications/${id}`,
    few(async (words) => {
      await button(page, words.applications.secret.show).click();
      await button(page, words.applications.secret.hide).waitFor();
    }),
  );
  await shoot(
    page,
    'application-rotate',
    `/applications/${id}`,
    dialog(async (words) => {
      await button(page, words.applications.secret.rotate).click();
      await page.getByRole('dialog').waitFor();
    }),
  );
  await formShots(page, id);
  await page.unrouteAll();
  await shoot(page, 'application-disabled', `/applications/${off.id}`, few());
});

async function formShots(page: Page, id: string): Promise<void> {
  const edit = async (words: Words) => {
    await button(page, words.applications.edit).first().click();
    await page.locator('.choices fieldset').first().waitFor();
  };
  await shoot(page, 'application-edit', `/applications/${id}`, { prepare: edit, height: 900 });
  await shoot(
    page,
    'application-edit-search',
    `/applications/${id}`,
    dialog(async (words) => {
      await edit(words);
      await page.getByRole('searchbox').fill('chat');
      await page.getByLabel(words.applications.name).fill('');
      await button(page, words.applications.form.save).click();
    }),
  );
  await shoot(
    page,
    'application-leave',
    `/applications/${id}`,
    dialog(async (words) => {
      await edit(words);
      await page.getByLabel(words.applications.name).fill('Another name');
      await button(page, words.common.action.cancel).click();
      await page.locator('.ant-modal').waitFor();
    }),
  );
  await shoot(page, 'application-new', '/applications?new', {
    height: 900,
    looks: twice,
    prepare: () => page.locator('.choices fieldset').first().waitFor(),
  });
  await shoot(
    page,
    'application-created',
    '/applications?new',
    dialog(async (words) => {
      await page.getByLabel(words.applications.name).fill('Translator');
      await page.getByRole('checkbox').first().check();
      await button(page, words.applications.form.submit).click();
      await page.locator('.code').waitFor();
    }),
  );
}

test('calls', async ({ page, developer }) => {
  const { id } = await withCalls(developer);
  const log = async (words: Words) => {
    await button(page, words.applications.log).first().click();
    await page.locator('.calls-table tr.call').first().waitFor();
  };
  const call = (text: string) => async (words: Words) => {
    await log(words);
    await page.locator('.call-figures button').click();
    await page.locator('.calls-table tr.call', { hasText: text }).first().click();
    await page.locator('.verdict, .call-more').first().waitFor();
  };
  await shoot(page, 'calls', `/applications/${id}`, { prepare: log, height: 900 });
  await shoot(
    page,
    'calls-success',
    `/applications/${id}`,
    dialog(async (words) => {
      await log(words);
      await page.locator('.calls-table tr.call', { hasText: words.calls.result.success }).first().click();
      await page.locator('.call-more').waitFor();
    }),
  );
  await shoot(
    page,
    'calls-failures',
    `/applications/${id}`,
    dialog(async (words) => {
      await log(words);
      await page.locator('.call-figures button').click();
      await page.locator('.calls-table tr.call', { hasText: '429' }).first().waitFor();
    }),
  );
  await shoot(
    page,
    'calls-date',
    `/applications/${id}`,
    dialog(async (words) => {
      await log(words);
      await button(page, words.calls.date).click();
      await page.locator('.ant-picker-dropdown').waitFor();
    }),
  );
  await shoot(page, 'failure', `/applications/${id}`, { prepare: call('429'), height: 1100 });
  await shoot(page, 'failure-unknown', `/applications/${id}`, { prepare: call('403'), looks: twice, height: 1100 });
  await shoot(page, 'failure-interrupted', `/applications/${id}`, { prepare: call('499'), looks: twice, height: 1100 });
  await developer.api('PATCH', `/api/applications/${id}/status`, { status: 'disabled' });
  await shoot(page, 'failure-no-model', `/applications/${id}`, { prepare: call('400'), looks: twice, height: 1100 });
});

test('explorer', async ({ page, developer }) => {
  const { id } = await withCalls(developer);
  const today = dayOf(Date.now());
  const one = async (status: number) => {
    const { items } = await developer.api<{ items: { callId: string }[] }>(
      'GET',
      `/api/statistics/applications/${id}/calls?status=${status}`,
    );
    return items[0]!.callId;
  };
  const [failed, whole] = [await one(429), await one(200)];
  await shoot(page, 'explorer', `/applications/${id}/calls`);
  await shoot(
    page,
    'explorer-filtered',
    `/applications/${id}/calls?start=${today}&end=${today}&result=failure&reason=upstream_http_error:upstream_status&from=00:00&to=24:00`,
    few(),
  );
  await shoot(page, 'explorer-nothing', `/applications/${id}/calls?text=nothing+says+this`, few());
  await shoot(page, 'explorer-call', `/applications/${id}/calls/${failed}`);
  await shoot(page, 'call-failed', `/calls/${failed}`, few());
  await shoot(page, 'call-succeeded', `/calls/${whole}`, few());
  await shoot(page, 'day-by-hour', `/applications/${id}?start=${today}&end=${today}`);
  await shoot(
    page,
    'day-by-hour-table',
    `/?start=${today}&end=${today}`,
    few((words) => button(page, words.common.chart.table).click()),
  );
  await shoot(page, 'replay', `/capabilities/${CHAT}?tab=try&app=${id}&replay=${failed}`, few());
  await shoot(
    page,
    'search',
    '/',
    dialog(async () => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('demo');
      await page.getByRole('option').first().waitFor();
    }),
  );
  await shoot(
    page,
    'shortcuts',
    '/',
    dialog(async (words) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: words.common.keys.title }).waitFor();
    }),
  );
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

test('capabilities', async ({ page, developer, administrator }) => {
  await withCatalog(administrator);
  const { id } = await withCalls(developer);
  await developer.createApplication('Not yet bound', []);
  await shoot(page, 'capabilities', '/capabilities');
  await shoot(page, 'capabilities-none', '/capabilities?q=nothing', few());
  await shoot(page, 'capability', `/capabilities/${CHAT}`);
  await shoot(page, 'capability-disabled', '/capabilities/code-review', few());
  const send = async (words: Words) => {
    await button(page, words.playground.send).click();
    await page.locator('.try-figures a').waitFor();
    await button(page, words.playground.send).waitFor();
  };
  const body = (model: string) =>
    page.locator('#try-body').fill(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], stream: true }, null, 2));
  const url = `/capabilities/${CHAT}?tab=try&app=${id}`;
  await shoot(page, 'try', url, few());
  await shoot(page, 'try-answer', url, { prepare: send });
  await shoot(
    page,
    'try-raw',
    url,
    few(async (words) => {
      await send(words);
      await button(page, words.playground.views.raw).click();
    }),
  );
  await shoot(
    page,
    'try-error',
    url,
    few(async (words) => {
      await body('demo-error-429');
      await send(words);
    }),
  );
  await shoot(page, 'try-unbound', `/capabilities/chat-large?tab=try&app=${id}`, few());
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
      await button(page, words.common.range.last30).click();
      await page.getByRole('dialog').waitFor();
      await context.addCookies(cookies);
      await page.unroute('**/api/statistics/**');
    }),
  );
});

test('back office', async ({ page, administrator }: { page: Page; administrator: Administrator }) => {
  await withCatalog(administrator);
  const check = (result: object) => async (words: Words) => {
    await page.route('**/api/admin/capabilities/check', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: result } }));
    await button(page, words.admin.editor.check).click();
    await page.locator('.bar[data-kind]').last().waitFor();
    await page.unroute('**/api/admin/capabilities/check');
  };
  await shoot(page, 'admin-groups', '/admin/groups');
  await shoot(
    page,
    'admin-group-new',
    '/admin/groups',
    few((words) => button(page, words.admin.groups.add).click()),
  );
  await shoot(
    page,
    'admin-group-rename',
    '/admin/groups',
    few(() => page.locator('.name-button').first().click()),
  );
  await shoot(page, 'admin-capabilities', '/admin/capabilities');
  await shoot(page, 'admin-capabilities-ordering', '/admin/capabilities?groupId=language', few());
  await shoot(page, 'admin-capabilities-none', '/admin/capabilities?q=nothing', few());
  await shoot(
    page,
    'admin-disable',
    '/admin/capabilities',
    dialog(async () => {
      await page.getByRole('switch').first().click();
      await page.getByRole('dialog').waitFor();
    }),
  );
  await shoot(page, 'admin-capability', '/admin/capabilities/chat-large', {
    prepare: check({ ok: true, stage: 'http', status: 200, durationMs: 184, message: '' }),
  });
  await shoot(
    page,
    'admin-check-failed',
    '/admin/capabilities/chat-large',
    few(check({ ok: false, stage: 'dns', status: null, durationMs: 12, message: 'lookup models.example.com: no such host' })),
  );
  await shoot(page, 'admin-capability-new', '/admin/capabilities/new');
  await shoot(
    page,
    'admin-capability-refused',
    '/admin/capabilities/new',
    few(async (words) => {
      await page.getByLabel(words.admin.editor.id, { exact: true }).fill('no spaces please');
      await page.getByLabel(words.admin.editor.baseUrl, { exact: true }).fill('https://models.example.com/v1');
      await button(page, words.admin.editor.create).click();
      await page.getByRole('alert').first().waitFor();
    }),
  );
  await shoot(
    page,
    'admin-leave',
    '/admin/capabilities/chat-large',
    dialog(async (words) => {
      await page.getByLabel(words.admin.editor.name, { exact: true }).fill('Chat huge');
      await page.getByRole('link', { name: words.admin.nav.audit }).locator('visible=true').click();
      await page.locator('.ant-modal').waitFor();
    }),
  );
  await shoot(page, 'admin-upstreams', '/admin/upstreams');
  await shoot(page, 'admin-prices', '/admin/prices');
  await shoot(
    page,
    'admin-price-new',
    '/admin/prices?capability=chat-large',
    few(async (words) => {
      await button(page, words.admin.prices.add).click();
      await page.getByRole('heading', { name: words.admin.prices.suggested.title }).waitFor();
    }),
  );
  await shoot(page, 'admin-spools', '/admin/spools');
  await shoot(page, 'admin-audit', '/admin/audit');
});
