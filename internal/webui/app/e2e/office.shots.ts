import type { Page } from '@playwright/test';
import { button, dialog, few, patiently, shoot, withCatalog, type Words } from './shots';
import { test, type Administrator } from './test';

// As pages.shots.ts, for the back office.
patiently();

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
      await page.getByRole('link', { name: words.admin.nav.applications }).locator('visible=true').click();
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
