import { CHAT, CLAUDE, expect, expectAccessible, test } from './test';

test('of applications only what is not normal is tagged, and the failing one stands out', async ({ page, developer }) => {
  const [good, bad, off] = [
    await developer.createApplication('Good'),
    await developer.createApplication('Bad'),
    await developer.createApplication('Off'),
  ];
  await developer.calls(good.accessKey, 2);
  await developer.calls(bad.accessKey, 4);
  await developer.call(bad.accessKey, { model: 'demo-error-500' });
  await developer.api('PATCH', `/api/applications/${off.id}/status`, { status: 'disabled' });
  await developer.counted(7);
  await page.goto('/applications');
  const tags = (name: string) =>
    page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name, exact: true }) })
      .locator('.tag');
  await expect(tags('Bad')).toHaveText(['Failing']);
  await expect(tags('Off')).toHaveText(['Disabled']);
  await expect(tags('Good')).toHaveCount(0);
  const rate = page.locator('tr', { hasText: 'Bad' }).locator('.rate');
  await expect(rate).toHaveText('80.00%');
  await expect(rate).toHaveAttribute('data-level', 'failed');
  await expect(rate.locator('svg')).toBeVisible();
  await expectAccessible(page);
});

test('of 60 applications those a capability is bound to are found: by name, and alone', async ({ page, developer }) => {
  for (let n = 1; n <= 57; n++) await developer.createApplication(`Batch ${n}`, []);
  for (const name of ['Search', 'Chat', 'Speech']) await developer.createApplication(name, [CHAT]);
  await page.goto(`/capabilities/${CHAT}`);
  const list = page.getByRole('region', { name: 'My applications' });
  const rows = list.locator('tbody tr');
  await expect(rows).toHaveCount(20);
  await list.getByRole('button', { name: 'Only with access (3 of 60)' }).click();
  await expect(rows).toHaveCount(3);
  await list.getByRole('searchbox').fill('sea');
  await expect(rows).toHaveText([/^Search/]);
  await list.getByRole('button', { name: 'Only with access (3 of 60)' }).click();
  await list.getByRole('searchbox').fill('batch 57');
  await list.getByRole('button', { name: 'Grant access to Batch 57' }).click();
  await expect(list.getByRole('button', { name: 'Only with access (4 of 60)' })).toBeVisible();
  await list.getByRole('searchbox').fill('');
  await list.getByRole('button', { name: 'Show all 60' }).click();
  await expect(rows).toHaveCount(60);
  await expectAccessible(page);
});

test('in Edit what is bound stands first, and alone on request', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search', [CLAUDE]);
  await page.goto(`/applications/${id}?tab=settings`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit application' });
  const first = dialog.locator('fieldset').first();
  await expect(first.locator('legend')).toHaveText('Has access now');
  await expect(first.getByRole('checkbox')).toHaveCount(1);
  await expect(first.getByRole('checkbox', { name: /Demo messages/ })).toBeChecked();
  await dialog.getByRole('button', { name: 'Only chosen' }).click();
  await expect(dialog.getByRole('checkbox')).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Only chosen' }).click();
  await dialog.getByRole('checkbox', { name: /Demo chat/ }).check();
  await dialog.getByRole('button', { name: 'Only chosen' }).click();
  await expect(dialog.getByRole('checkbox')).toHaveCount(2);
  await expectAccessible(page, '[role=dialog]');
});

test('“Copied” moves nothing', async ({ page, context, developer }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id } = await developer.createApplication('Search');
  await page.goto(`/applications/${id}?tab=keys`);
  const rotate = page.getByRole('button', { name: 'Rotate' });
  const before = (await rotate.boundingBox())!;
  await page.getByRole('button', { name: 'Copy key' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect((await rotate.boundingBox())!.x).toBe(before.x);
});

test('of 30 applications the one with most failures is first in one choice; name, status and order stand in the URL', async ({
  page,
  developer,
}) => {
  const made = [];
  for (let n = 1; n <= 30; n++) made.push(await developer.createApplication(`Batch ${n}`));
  await developer.call(made[4]!.accessKey);
  await developer.calls(made[2]!.accessKey, 2, { model: 'demo-error-500' });
  await developer.call(made[7]!.accessKey, { model: 'demo-error-500' });
  await developer.api('PATCH', `/api/applications/${made[9]!.id}/status`, { status: 'disabled' });
  await developer.counted(4);
  await page.goto('/applications?page=3');
  const names = page.locator('.applications-table .application-name a');
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Most failures');
  await expect(page).toHaveURL('/applications?sort=failures'); // from the first page on
  await expect(names.first()).toHaveText('Batch 3');
  await expect(names.nth(1)).toHaveText('Batch 8');
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Last call');
  await expect(page.getByRole('columnheader', { name: 'Last call' })).toBeVisible();
  await expect(names.first()).toHaveText('Batch 8');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('Disabled');
  await expect(names).toHaveText(['Batch 10']);
  await page.getByRole('searchbox').fill('batch 2');
  await expect(page.getByText('No application matches.')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('searchbox')).toHaveValue('batch 2');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL('/applications?sort=lastCall');
  await page.getByRole('searchbox').fill('batch 2');
  await expect(page.getByText('11 applications')).toBeVisible(); // Batch 2 and 20 to 29
  await expectAccessible(page);
});
