import { randomUUID } from 'node:crypto';
import { expect, test } from './test';

const mark = () => randomUUID().slice(0, 8);

test('a form keeps the caret where it is typed, stores once, and goes on from what was refused', async ({
  page,
  administrator,
  expected,
}) => {
  void administrator;
  expected.push(/ 400 /);
  let posts = 0;
  page.on('request', (request) => (posts += Number(request.method() === 'POST' && request.url().endsWith('/api/admin/groups'))));
  const name = `Typed ${mark()}`;
  await page.goto('/admin/groups');
  await page.getByRole('button', { name: 'New group' }).click();
  const form = page.getByRole('form', { name: 'New group' });
  const [title, id] = [form.getByLabel('Name'), form.getByLabel('Identifier')];
  await expect(title).toBeFocused();
  await page.keyboard.type(name.replace('yp', ''));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('yp');
  await expect(title).toHaveValue(name);

  await id.fill('not fine');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(id).toBeFocused();
  await expect(id).toHaveAccessibleDescription(/must have 1 to 64 letters/);
  await expect(title).toHaveValue(name);
  await expect(title).toHaveAttribute('aria-invalid', 'false');

  // An answer that takes its time: what is pressed meanwhile is not sent again.
  let go = () => {};
  const held = new Promise<void>((done) => (go = done));
  await page.route('**/api/admin/groups', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  posts = 0;
  await id.fill(`fine-${mark()}`);
  await page.keyboard.press('Enter');
  await expect(form.getByRole('button', { name: 'Create' })).toHaveAttribute('aria-busy', 'true');
  await expect(id).toHaveAttribute('aria-invalid', 'false');
  await page.keyboard.press('Enter');
  await form.getByRole('button', { name: 'Create' }).click();
  go();
  await expect(form).toBeHidden();
  await expect(page.getByRole('row').filter({ hasText: name })).toBeVisible();
  expect(posts).toBe(1);
});
