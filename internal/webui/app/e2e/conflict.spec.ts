import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, test, type Administrator } from './test';

type Schemas = components['schemas'];
const mark = () => randomUUID().slice(0, 8);
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const makeGroup = (administrator: Administrator, name: string) =>
  administrator.api<Schemas['Group']>('POST', '/api/admin/groups', { name, sortOrder: 5000 });

async function makeCapability(administrator: Administrator, more: object = {}): Promise<Schemas['AdminCapability']> {
  const group = await makeGroup(administrator, `Conflict ${mark()}`);
  return administrator.api('POST', '/api/admin/capabilities', {
    id: `c-${mark()}`,
    name: 'Chat',
    groupId: group.id,
    upstreamBaseUrl: 'http://127.0.0.1:9/base',
    upstreamKey: 'the-upstream-key',
    upstreamModel: 'm',
    defaultPath: '/v1/chat/completions',
    ...more,
  });
}

test.beforeEach(({ expected }) => void expected.push(/ 409 /));

test('saving a capability never writes back what somebody else changed, and asks where both changed the same', async ({
  page,
  administrator,
}) => {
  const { id } = await makeCapability(administrator);
  const path = `/api/admin/capabilities/${id}`;
  await page.goto(`/admin/capabilities/${id}`);
  await field(page, 'Name').fill('Mine');
  await administrator.api('PATCH', path, { name: 'Theirs', description: 'They wrote this' });
  await administrator.api('PATCH', `${path}/status`, { status: 'disabled' });
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert', { name: 'Somebody else changed this meanwhile.' });
  await expect(conflict).toBeFocused();
  await expect(conflict.getByRole('radiogroup', { name: 'Name' })).toContainText('Mine: Mine');
  await expect(conflict.getByRole('radiogroup', { name: 'Name' })).toContainText('Theirs: Theirs');
  await expect(conflict).toContainText('is now They wrote this');
  await expect(conflict).toContainText('is now Disabled');
  await expect(field(page, 'Description')).toHaveValue('They wrote this');
  await expectAccessible(page);
  expect(await administrator.api('GET', path)).toMatchObject({ name: 'Theirs', status: 'disabled' }); // nothing was written
  await conflict.getByRole('radio', { name: 'Theirs: Theirs' }).check();
  await expect(field(page, 'Name')).toHaveValue('Theirs');
  await conflict.getByRole('radio', { name: 'Mine: Mine' }).check();
  await expect(field(page, 'Name')).toHaveValue('Mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(conflict).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
  expect(await administrator.api('GET', path)).toMatchObject({ name: 'Mine', description: 'They wrote this', status: 'disabled' });
});

test('what is read anew under an edit that is not saved does not move what it is compared with', async ({ page, administrator }) => {
  const { id } = await makeCapability(administrator);
  const path = `/api/admin/capabilities/${id}`;
  await page.goto(`/admin/capabilities/${id}`);
  await field(page, 'Name').fill('Mine');
  await administrator.api('PATCH', `${path}/status`, { status: 'disabled' });
  await administrator.api('PATCH', path, { upstreamModel: 'theirs' });
  const again = page.waitForResponse((response) => response.url().endsWith(path) && response.request().method() === 'GET');
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange'))); // as when the window is come back to
  await again;
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Disabled'); // it is drawn
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert', { name: 'Somebody else changed this meanwhile.' })).toContainText('is now theirs');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
  expect(await administrator.api('GET', path)).toMatchObject({ name: 'Mine', status: 'disabled', upstreamModel: 'theirs' });
});

test('a group that somebody else renamed asks which name is to stand', async ({ page, administrator }) => {
  const name = `Group ${mark()}`;
  const group = await makeGroup(administrator, name);
  const named = async () =>
    (await administrator.api<Schemas['GroupList']>('GET', '/api/admin/groups')).items.find(({ id }) => id === group.id)!.name;
  await page.goto('/admin/groups');
  for (const [button, stands] of [
    ['Keep theirs', 'theirs'],
    ['Store mine', 'mine'],
  ] as const) {
    const now = await named();
    await page.reload();
    await page.getByRole('button', { name: `Rename ${now}`, exact: true }).click();
    await field(page, 'Name').fill(`${name} mine`);
    await administrator.api('PATCH', `/api/admin/groups/${group.id}`, { name: `${name} theirs ${button}` });
    await page.keyboard.press('Enter');
    await expect(
      page.getByRole('alert').filter({ hasText: `Somebody else renamed it to ${name} theirs ${button} meanwhile.` }),
    ).toBeVisible();
    await page.getByRole('button', { name: button, exact: true }).click();
    await expect(page.getByRole('button', { name: new RegExp(`^Rename ${name} ${stands}`) })).toBeFocused();
    expect(await named()).toBe(stands === 'mine' ? `${name} mine` : `${name} theirs ${button}`);
  }
});

test('switching and ordering go on over edits of something else; an order that was changed asks', async ({ page, administrator }) => {
  const group = await makeGroup(administrator, `Order ${mark()}`);
  const ids = ['one', 'two', 'three'].map((one) => `${one}-${mark()}`);
  for (const [n, id] of ids.entries())
    await administrator.api('POST', '/api/admin/capabilities', {
      id,
      name: id,
      groupId: group.id,
      upstreamBaseUrl: 'http://127.0.0.1:9',
      upstreamKey: 'the-upstream-key',
      sortOrder: n + 1,
    });
  const stored = async () =>
    (await administrator.api<Schemas['AdminCapabilityPage']>('GET', `/api/admin/capabilities?groupId=${group.id}`)).items.map(
      ({ id }) => id,
    );
  await page.goto(`/admin/capabilities?groupId=${group.id}`);
  const toggle = page.getByRole('switch', { name: `${ids[0]}: enabled` });
  await expect(toggle).toBeChecked();
  await administrator.api('PATCH', `/api/admin/capabilities/${ids[0]}`, { description: 'edited meanwhile' });
  await toggle.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByText(`${ids[0]} is disabled`)).toBeVisible();
  expect(await administrator.api('GET', `/api/admin/capabilities/${ids[0]}`)).toMatchObject({
    status: 'disabled',
    description: 'edited meanwhile',
  });

  await administrator.api('PATCH', `/api/admin/capabilities/${ids[1]}`, { description: 'edited meanwhile' });
  const handle = page.getByRole('button', { name: `Move ${ids[2]}` });
  await handle.focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(stored).toEqual([ids[0], ids[2], ids[1]]);

  await expect.poll(() => page.locator('tbody code').allTextContents()).toEqual([ids[0], ids[2], ids[1]]);
  await administrator.api('PUT', '/api/admin/capabilities/order', { groupId: group.id, ids: [ids[1], ids[2], ids[0]] });
  await page.keyboard.press('Alt+ArrowUp');
  const question = page.getByRole('dialog', { name: 'Somebody else changed the order meanwhile.' });
  await expect(question).toContainText(`Theirs: ${ids[1]} · ${ids[2]} · ${ids[0]}. Mine: ${ids[2]} · ${ids[0]} · ${ids[1]}.`);
  expect(await stored()).toEqual([ids[1], ids[2], ids[0]]);
  await question.getByRole('button', { name: 'Store mine' }).click();
  await expect.poll(stored).toEqual([ids[2], ids[0], ids[1]]);
});

test('an application edited in two tabs keeps the edits of both, and asks for the name', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search', [CHAT]);
  await page.goto(`/applications/${id}?tab=settings`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'Edit application' });
  const name = drawer.getByRole('textbox', { name: /^Name/ });
  await expect(name).toHaveValue('Search');
  await name.fill('Mine');
  await developer.api('PATCH', `/api/applications/${id}`, {
    name: 'Theirs',
    description: 'They wrote this',
    capabilityIds: [CHAT, CLAUDE],
  });
  await drawer.getByRole('button', { name: 'Save' }).click();
  const conflict = drawer.getByRole('alert', { name: 'Somebody else changed this meanwhile.' });
  await expect(conflict).toBeFocused();
  await expect(conflict).toContainText('is now They wrote this');
  await expect(drawer.getByRole('checkbox', { name: /demo-claude/ })).toBeChecked();
  await expectAccessible(page, '[role=dialog]');
  await conflict.getByRole('radio', { name: 'Theirs: Theirs' }).check();
  await expect(name).toHaveValue('Theirs');
  await conflict.getByRole('radio', { name: 'Mine: Mine' }).check();
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await drawer.getByRole('button', { name: 'Save' }).click();
  await expect(drawer).toBeHidden();
  expect(await developer.api('GET', `/api/applications/${id}`)).toMatchObject({
    name: 'Mine',
    description: 'They wrote this',
    capabilityIds: expect.arrayContaining([CHAT, CLAUDE]) as unknown,
  });
});
