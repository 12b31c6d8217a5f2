import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, mailedCode, prefer, test, type Administrator } from './test';

type Schemas = components['schemas'];
const mark = () => randomUUID().slice(0, 8);
const KEY = 'the-upstream-key-nobody-sees';

const makeGroup = (administrator: Administrator, name: string) =>
  administrator.api<Schemas['Group']>('POST', '/api/admin/groups', { name, sortOrder: 5000 });
const makeCapability = (administrator: Administrator, id: string, groupId: string, more: object = {}) =>
  administrator.api<Schemas['AdminCapability']>('POST', '/api/admin/capabilities', {
    id,
    name: `Name ${id}`,
    groupId,
    upstreamBaseUrl: 'http://127.0.0.1:9/base',
    upstreamKey: KEY,
    upstreamModel: 'm',
    defaultPath: '/v1/chat/completions',
    ...more,
  });
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });

/** An upstream that answers 200 and tells which headers it got. */
async function upstream(): Promise<{ url: string; seen: IncomingHttpHeaders[]; close: () => void }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push({ ...request.headers, ':path': request.url ?? '' });
    response.setHeader('Content-Type', 'application/json').end('{"choices":[{"message":{"content":"fine"}}]}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close: () => void server.close() };
}

test('the back office has its own sign-in, and a developer is nobody there', async ({ page, developer, request, baseURL }) => {
  void developer;
  await page.goto('/admin/groups');
  await expect(page).toHaveURL('/admin/sign-in?next=%2Fadmin%2Fgroups');
  await expect(page.locator('.office-band')).toHaveText('Back office');
  await page.getByLabel('E-mail').fill('admin@callgate.local');
  await page.getByRole('button', { name: 'Send code' }).click();
  await page
    .locator('.ant-otp-input')
    .first()
    .pressSequentially(await mailedCode(request, baseURL!, 'admin@callgate.local'));
  await expect(page).toHaveURL('/admin/groups');
  await expect(page.getByRole('heading', { name: 'Groups' })).toBeVisible();
  await expect(page.locator('.rail .office-band')).toHaveText('Back office');
  await page.goto('/admin');
  await expect(page.getByRole('heading', { name: 'Health', level: 1 })).toBeVisible();
  await page.goto('/');
  await expect(page.locator('.office-band')).toHaveCount(0);
});

test('a group is created, renamed in place and counted', async ({ page, administrator, expected }) => {
  expected.push(/ 409 /); // where another test gives the group another place meanwhile: the page renames it all the same
  const name = `Fresh ${mark()}`;
  await page.goto('/admin/groups');
  await page.getByRole('button', { name: 'New group' }).click();
  await field(page, 'Name').fill(name);
  await page.keyboard.press('Enter');
  await expect(row(page, name)).toBeVisible();
  await page.getByRole('button', { name: `Rename ${name}` }).click();
  await field(page, 'Name').fill('never kept');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `Rename ${name}` }).click();
  await field(page, 'Name').fill(`${name} renamed`);
  await page.keyboard.press('Enter');
  await expect(row(page, `${name} renamed`)).toBeVisible();
  const groups = (await administrator.api<Schemas['GroupList']>('GET', '/api/admin/groups')).items;
  const made = groups.find((group) => group.name === `${name} renamed`)!;
  expect(made).toBeTruthy();
  await makeCapability(administrator, `c-${mark()}`, made.id);
  await page.reload();
  await expect(row(page, name).getByRole('link')).toHaveText('1');
  await row(page, name).getByRole('link').click();
  await expect(page).toHaveURL(`/admin/capabilities?groupId=${made.id}`);
});

test('a group that is refused says why at its field', async ({ page, administrator, expected }) => {
  expected.push(/ (400|409) /);
  void administrator;
  await page.goto('/admin/groups');
  await page.getByRole('button', { name: 'New group' }).click();
  await field(page, 'Name').fill('Fine');
  await page.getByLabel('Identifier').fill('not fine');
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText(/must have 1 to 64 letters/)).toBeVisible();
  await expect(page.getByLabel('Identifier')).toHaveAttribute('aria-invalid', 'true');
});

test('groups are ordered by Alt and arrows, and kept when the order is refused', async ({ page, administrator, expected }) => {
  // 409: a group of another test changed since the page was read.
  expected.push(/ (409|503) /);
  const [a, b] = [`A ${mark()}`, `B ${mark()}`];
  await makeGroup(administrator, a);
  await makeGroup(administrator, b);
  const order = async () => {
    const names = await page.locator('.name-button').allTextContents();
    return names.indexOf(a) < names.indexOf(b) ? 'ab' : 'ba';
  };
  await page.goto('/admin/groups');
  await expect(row(page, a)).toBeVisible();
  await expect(row(page, b)).toBeVisible();
  const before = await order();
  const last = before === 'ab' ? b : a;
  const handle = page.getByRole('button', { name: `Move ${last}` });
  await page.route('**/api/admin/groups/order', (route) => route.fulfill({ status: 503, json: { code: 50301, msg: 'down', data: null } }), {
    times: 1,
  });
  await handle.press('Alt+ArrowUp');
  await expect(page.getByText('A store is unavailable for now.')).toBeVisible();
  await expect.poll(order).toBe(before);
  // Another test may order groups too, by a name that stands at the same place: then the page asks, and rightly.
  const asked = page.getByRole('dialog', { name: 'Somebody else changed the order meanwhile.' });
  await page.addLocatorHandler(asked, () => asked.getByRole('button', { name: 'Store mine' }).click());
  // Groups of other tests may stand between the two.
  await expect(async () => {
    await handle.press('Alt+ArrowUp');
    await expect.poll(order, { timeout: 2_000 }).not.toBe(before);
  }).toPass();
  await expect(handle).toBeFocused();
  await expect(page.getByRole('status').getByText(new RegExp(`^${last} is now at place \\d+ of \\d+$`))).toBeAttached();
});

test('capabilities of a group are ordered by dragging, and developers get that order', async ({ page, administrator, developer }) => {
  const group = await makeGroup(administrator, `Drag ${mark()}`);
  const ids = ['one', 'two', 'three'].map((name) => `${name}-${mark()}`);
  for (const [n, id] of ids.entries()) await makeCapability(administrator, id, group.id, { sortOrder: n + 1 });
  await page.goto(`/admin/capabilities?groupId=${group.id}`);
  const shown = () => page.locator('tbody code').allTextContents();
  await expect.poll(shown).toEqual(ids);
  const handle = page.getByRole('button', { name: `Move Name ${ids[0]}` });
  const [from, to] = [(await handle.boundingBox())!, (await row(page, ids[2]!).boundingBox())!];
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, to.y + to.height - 4, { steps: 8 });
  await page.mouse.up();
  await expect.poll(shown).toEqual([ids[1], ids[2], ids[0]]);
  const listed = async () =>
    (await developer.api<Schemas['CapabilityItems']>('GET', '/api/capabilities')).items
      .filter(({ groupId }) => groupId === group.id)
      .map(({ id }) => id);
  await expect.poll(listed).toEqual([ids[1], ids[2], ids[0]]);
});

test('filters stand in the URL and can be cleared', async ({ page, administrator }) => {
  const group = await makeGroup(administrator, `Filter ${mark()}`);
  const [on, off] = [`on-${mark()}`, `off-${mark()}`];
  await makeCapability(administrator, on, group.id);
  await makeCapability(administrator, off, group.id, { status: 'disabled' });
  await page.goto('/admin/capabilities');
  await page.getByRole('combobox', { name: 'Group' }).selectOption({ label: group.name });
  await page.getByRole('combobox', { name: 'Status' }).selectOption('disabled');
  await expect(page).toHaveURL(`/admin/capabilities?groupId=${group.id}&status=disabled`);
  await expect(page.locator('tbody code')).toHaveText([off]);
  await page.getByRole('searchbox').fill('no such');
  await expect(page.getByText('No capability matches.')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('searchbox')).toHaveValue('no such');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL('/admin/capabilities');
  // Of two quick choices neither is lost: the second comes before the first is drawn.
  const choices = [
    await page.getByRole('combobox', { name: 'Group' }).elementHandle(),
    await page.getByRole('combobox', { name: 'Status' }).elementHandle(),
  ] as const;
  await page.evaluate(
    async ([[first, second], value]) => {
      for (const [select, chosen] of [
        [first, value],
        [second, 'enabled'],
      ] as const) {
        (select as HTMLSelectElement).value = chosen;
        select!.dispatchEvent(new Event('change', { bubbles: true }));
        for (let n = 0; n < 50; n++) await Promise.resolve(); // the address follows, no drawing
      }
    },
    [choices, group.id] as const,
  );
  await expect(page).toHaveURL(`/admin/capabilities?groupId=${group.id}&status=enabled`);
  await expect(page.locator('tbody code')).toHaveText([on]);
});

test('switching a capability off asks with the number of its applications, and calls obey', async ({ page, administrator, developer }) => {
  const group = await makeGroup(administrator, `Switch ${mark()}`);
  const id = `switch-${mark()}`;
  const server = await upstream();
  try {
    await makeCapability(administrator, id, group.id, { upstreamBaseUrl: server.url });
    const { accessKey } = await developer.createApplication('Uses it', [id]);
    await expect
      .poll(async () => (await developer.call(accessKey, { capability: id })).status, { timeout: 10_000, intervals: [50] })
      .toBe(200); // gateways learn of it within 2 s
    await page.goto(`/admin/capabilities?groupId=${group.id}`);
    const toggle = page.getByRole('switch', { name: `Name ${id}: enabled` });
    await expect(toggle).toBeChecked();
    await toggle.click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('Applications with access to it: 1.');
    await expectAccessible(page, '[role=dialog]');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(toggle).toBeChecked();
    await toggle.click();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await expect(toggle).not.toBeChecked();
    await expect
      .poll(async () => (await developer.call(accessKey, { capability: id })).status, { timeout: 10_000, intervals: [50] })
      .toBe(403);
    await toggle.click();
    await expect(toggle).toBeChecked();
    await expect
      .poll(async () => (await developer.call(accessKey, { capability: id })).status, { timeout: 10_000, intervals: [50] })
      .toBe(200);
  } finally {
    server.close();
  }
});

test('a capability is created with a live final URL and a checked connection, and works at once', async ({
  page,
  administrator,
  developer,
}) => {
  const group = await makeGroup(administrator, `Editor ${mark()}`);
  const id = `made-${mark()}`;
  const server = await upstream();
  try {
    await page.goto(`/admin/capabilities/new?groupId=${group.id}`);
    await field(page, 'Identifier').fill(id);
    await field(page, 'Name').fill('Made here');
    await field(page, 'Upstream URL').fill(`${server.url}/v1/`);
    const final = page.getByRole('group', { name: 'Final URL' });
    await expect(final.locator('output')).toHaveText(`${server.url}/v1/v1/chat/completions`);
    await expect(final).toContainText('Both the URL and the path have /v1');
    await field(page, 'Upstream URL').fill(`${server.url}/openai/`);
    await expect(final.locator('output')).toHaveText(`${server.url}/openai/v1/chat/completions`);
    await field(page, 'Credential').selectOption('api-key');
    await field(page, 'Upstream key').fill(KEY);
    await field(page, 'Upstream model').fill('served');
    await page.getByRole('button', { name: 'Check connection' }).click();
    await expect(page.getByText('The connection works')).toBeVisible();
    await expect(page.getByText('The connection works · HTTP status 200')).toBeVisible();
    expect(server.seen.at(-1)).toMatchObject({ ':path': '/openai/v1/chat/completions', 'api-key': KEY });
    await page.getByRole('button', { name: 'Create' }).click();
    await expect(page).toHaveURL(`/admin/capabilities/${id}`);
    await expect(field(page, 'Upstream key')).toHaveValue('');
    await expect(field(page, 'Upstream key')).toHaveAttribute('placeholder', 'Saved; empty keeps it');
    await expect(field(page, 'Identifier')).toHaveAttribute('readonly');
    const { accessKey } = await developer.createApplication('Calls it', [id]);
    await expect
      .poll(async () => (await developer.call(accessKey, { capability: id })).status, { timeout: 10_000, intervals: [50] })
      .toBe(200);
    expect(server.seen.at(-1)).toMatchObject({ ':path': '/openai/v1/chat/completions', 'api-key': KEY });
    expect(JSON.stringify(server.seen)).not.toContain(accessKey);
  } finally {
    server.close();
  }
});

test('an edit changes only what was edited, an empty key keeps the stored one, and leaving dirty asks', async ({ page, administrator }) => {
  const group = await makeGroup(administrator, `Edit ${mark()}`);
  const id = `edit-${mark()}`;
  const server = await upstream();
  try {
    await makeCapability(administrator, id, group.id, { upstreamBaseUrl: server.url });
    await page.goto(`/admin/capabilities/${id}`);
    await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
    await field(page, 'Name').fill('Renamed');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click();
    await expect(field(page, 'Name')).toHaveValue('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('heading', { name: 'Renamed' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
    await page.getByRole('button', { name: 'Check connection' }).click();
    await expect(page.getByText('The connection works')).toBeVisible();
    expect(server.seen.at(-1)).toMatchObject({ authorization: `Bearer ${KEY}` });
    await page.getByRole('link', { name: 'Audit' }).click();
    await expect(page).toHaveURL('/admin/audit');
    await page.goto(`/admin/audit?target=${id}`);
    await expect(row(page, `Name ${id} → Renamed`).locator('.changes li')).toHaveText([`Name: Name ${id} → Renamed`]);
    await page.goto(`/admin/capabilities/${id}`);
    await field(page, 'Upstream key').fill('another-key-nobody-sees');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
    await expect(field(page, 'Upstream key')).toHaveValue('');
    await page.getByRole('button', { name: 'Check connection' }).click();
    await expect(page.getByText('The connection works')).toBeVisible();
    expect(server.seen.at(-1)).toMatchObject({ authorization: 'Bearer another-key-nobody-sees' });
    await page.getByRole('navigation').getByRole('link', { name: 'Capabilities' }).click();
    await page.getByRole('searchbox').fill(id); // other tests fill the first page
    await row(page, id).getByRole('link', { name: 'Renamed', exact: true }).click();
    await field(page, 'Name').fill('Thrown away');
    await page.goBack(); // asks too, and goes when told to
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
    await expect(page).toHaveURL(/\/admin\/capabilities(\?|$)/);
    expect(await administrator.api<{ name: string }>('GET', `/api/admin/capabilities/${id}`)).toMatchObject({ name: 'Renamed' });
  } finally {
    server.close();
  }
});

test('what the server refuses is shown at its field', async ({ page, administrator, expected }) => {
  expected.push(/ 400 /);
  await makeGroup(administrator, `Wrong ${mark()}`);
  await page.goto('/admin/capabilities/new');
  await field(page, 'Identifier').fill('bad id');
  await field(page, 'Name').fill('x');
  await field(page, 'Upstream URL').fill('ftp://nowhere');
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('the URL must begin with http:// or https://')).toBeVisible();
  await expect(field(page, 'Identifier')).toBeFocused();
  await expect(field(page, 'Upstream key')).toHaveAttribute('aria-invalid', 'true');
});

test('a connection that fails says how far it came', async ({ page, administrator }) => {
  const group = await makeGroup(administrator, `Check ${mark()}`);
  const id = `check-${mark()}`;
  await makeCapability(administrator, id, group.id, { upstreamBaseUrl: 'http://127.0.0.1:9' });
  await page.goto(`/admin/capabilities/${id}`);
  await page.getByRole('button', { name: 'Check connection' }).click();
  await expect(page.getByText('The connection does not work')).toBeVisible();
  await expect(page.getByText('The host does not accept connections on this port.')).toBeVisible();
});

test('a stored key goes to a new host only once the administrator was asked', async ({ page, administrator }) => {
  const group = await makeGroup(administrator, `Origin ${mark()}`);
  const id = `origin-${mark()}`;
  await makeCapability(administrator, id, group.id);
  await page.goto(`/admin/capabilities/${id}`);
  const why = page.getByText('Left empty, the stored key is sent to the new address.');
  await field(page, 'Upstream URL').fill('http://127.0.0.1:9/elsewhere');
  await expect(field(page, 'Upstream key')).toHaveAttribute('placeholder', 'Saved; empty keeps it');
  await expect(why).toHaveCount(0);
  await field(page, 'Upstream URL').fill('http://127.0.0.1:10/base');
  await expect(why).toBeVisible();
  await page.getByRole('button', { name: 'Save' }).click();
  const ask = page.getByRole('dialog', { name: 'Send the stored key to another address?' });
  await expect(ask).toContainText('saved for 127.0.0.1:9; from now on calls send it to 127.0.0.1:10');
  await ask.getByRole('button', { name: 'Cancel' }).click();
  const stored = () => administrator.api<{ upstreamBaseUrl: string }>('GET', `/api/admin/capabilities/${id}`);
  expect((await stored()).upstreamBaseUrl).not.toContain(':10');
  await page.getByRole('button', { name: 'Save' }).click();
  await ask.getByRole('button', { name: 'Keep the key and save' }).click();
  await expect(page.getByText('Saved; in effect within 2 s.')).toBeVisible();
  expect((await stored()).upstreamBaseUrl).toBe('http://127.0.0.1:10/base');
  await page.goto(`/admin/audit?target=${id}`);
  await expect(
    row(page, 'Edited capability')
      .filter({ hasText: `Name ${id}` })
      .first(),
  ).toContainText('Stored key is sent to: http://127.0.0.1:9 → http://127.0.0.1:10');
});

test('the audit trail tells who did what, and of a key only that it changed', async ({ page, administrator }) => {
  const group = await makeGroup(administrator, `Trail ${mark()}`);
  const id = `trail-${mark()}`;
  await makeCapability(administrator, id, group.id);
  await administrator.api('PATCH', `/api/admin/capabilities/${id}`, {
    upstreamKey: 'another-key-of-the-upstream',
    defaultPath: '/v2/chat',
  });
  await page.goto(`/admin/audit?target=${id}`);
  const entry = row(page, 'Edited capability')
    .filter({ hasText: `Name ${id}` })
    .first();
  await expect(entry).toContainText(administrator.email);
  await expect(entry).toContainText('Upstream key: changed');
  await expect(entry).toContainText('Default path: /v1/chat/completions → /v2/chat');
  await expect(entry.locator('td').first()).toHaveText(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  expect(await page.content()).not.toMatch(/another-key|the-upstream-key/);
});

test('the pages of the back office are accessible in both themes and languages, and fit a phone', async ({ page, administrator }) => {
  test.setTimeout(120_000);
  const group = await makeGroup(administrator, `Look ${mark()}`);
  const id = `look-${mark()}`;
  await makeCapability(administrator, id, group.id);
  const pages = [
    ['/admin/groups', `tbody tr`],
    [`/admin/capabilities?groupId=${group.id}`, 'tbody tr'],
    [`/admin/capabilities/${id}`, '#capability-name'],
    ['/admin/audit', 'tbody tr'],
  ] as const;
  for (const [path, ready] of pages) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(path);
    await inEveryLook(
      page,
      () => expect(page.locator(ready).first()).toBeVisible(),
      () => expectAccessible(page),
    );
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await prefer(page, 'en');
  }
});
