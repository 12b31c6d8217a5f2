import { patiently, shoot } from './shots';
import { CHAT, Developer, test } from './test';

// As pages.shots.ts, for the back office's directories and what an owner is told.
patiently();

test('directories', async ({ page, browser, baseURL, administrator, developer }) => {
  const other = new Developer((await browser.newContext()).request, baseURL!);
  await other.signIn();
  const app = await developer.createApplication('Search assistant of the customer service department, north', [CHAT]);
  const plain = await other.createApplication('Nightly batch', [CHAT]);
  const { callId } = await other.call(plain.accessKey, { model: 'demo-error-429' });
  await other.counted(1);
  await administrator.api('PATCH', `/api/admin/applications/${app.id}/status`, {
    status: 'disabled',
    reason: 'It calls without end since Sunday; write to the platform team.',
  });
  await shoot(page, 'admin-applications', '/admin/applications');
  await shoot(page, 'admin-application-disable', `/admin/applications?q=${plain.id}`, {
    height: 844,
    prepare: async (words) => {
      await page.getByRole('button', { name: words.admin.directory.disable }).click();
      const dialog = page.getByRole('dialog');
      await dialog.evaluate((element) => Promise.all(element.getAnimations({ subtree: true }).map(({ finished }) => finished)));
      await dialog.getByRole('textbox').fill('Sunday');
    },
  });
  await shoot(page, 'admin-users', '/admin/users');
  await shoot(page, 'admin-call', `/admin/calls/${callId}`);
  await shoot(page, 'admin-audit-filtered', '/admin/audit?action=application.');
  await shoot(page, 'admin-more', '/admin/users', {
    looks: [
      ['zh-CN', 'light', 390],
      ['en', 'dark', 390],
    ],
    height: 844,
    prepare: () => page.locator('.more > button').click(),
  });
  await shoot(page, 'application-held', `/applications/${app.id}`);
});
