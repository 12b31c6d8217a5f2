import type { Page } from '@playwright/test';
import { button, dialog, few, patiently, shoot, twice, withCalls, withCatalog, withHistory, type Words } from './shots';
import { CHAT, test } from './test';

// As pages.shots.ts, for applications and what they may call.
patiently();

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
  await shoot(page, 'application-settings', `/applications/${id}?tab=settings`);
  await shoot(page, 'application-alerts', `/applications/${id}?tab=alerts`);
  await shoot(
    page,
    'application-key',
    `/applications/${id}?tab=keys`,
    few(async (words) => {
      await button(page, words.applications.secret.show).click();
      await button(page, words.applications.secret.hide).waitFor();
    }),
  );
  await shoot(
    page,
    'application-rotate',
    `/applications/${id}?tab=keys`,
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
  await shoot(page, 'application-edit', `/applications/${id}?tab=settings`, { prepare: edit, height: 900 });
  await shoot(
    page,
    'application-edit-search',
    `/applications/${id}?tab=settings`,
    dialog(async (words) => {
      await edit(words);
      await page.getByRole('searchbox').fill('chat');
      await page.getByRole('textbox', { name: words.applications.name }).fill('');
      await button(page, words.applications.form.save).click();
    }),
  );
  await shoot(
    page,
    'application-leave',
    `/applications/${id}?tab=settings`,
    dialog(async (words) => {
      await edit(words);
      await page.getByRole('textbox', { name: words.applications.name }).fill('Another name');
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
      await page.getByRole('textbox', { name: words.applications.name }).fill('Translator');
      await page.getByRole('checkbox').first().check();
      await button(page, words.applications.form.submit).click();
      await page.locator('.code').waitFor();
    }),
  );
}

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
