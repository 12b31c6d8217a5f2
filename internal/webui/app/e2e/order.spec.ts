import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { expect, test, type Administrator } from './test';

type Schemas = components['schemas'];

/** A group of `n` capabilities, more than fit a window; their identifiers in their order. */
async function withGroup(administrator: Administrator, n: number): Promise<{ groupId: string; ids: string[] }> {
  const mark = randomUUID().slice(0, 8);
  const { id: groupId } = await administrator.api<Schemas['Group']>('POST', '/api/admin/groups', { name: `Long ${mark}` });
  const ids = Array.from({ length: n }, (_, at) => `${mark}-${at + 1}`);
  for (const [at, id] of ids.entries())
    await administrator.api('POST', '/api/admin/capabilities', {
      id,
      name: id,
      groupId,
      sortOrder: at + 1,
      status: 'enabled',
      upstreamBaseUrl: 'http://127.0.0.1:9',
      upstreamKey: 'none',
    });
  return { groupId, ids };
}

const shown = (page: Page) => page.locator('tbody code').allTextContents();

/** The order while the pointer holds a row at a place; a browser tells of a pointer at rest, Playwright of its moves only. */
async function shownAt(page: Page, x: number, y: number): Promise<string[]> {
  await page.mouse.move(x + 1, y);
  await page.mouse.move(x, y);
  return shown(page);
}

/** How many orders the page has asked the server to store. */
function orders(page: Page): () => number {
  let n = 0;
  page.on('request', (request) => {
    n += Number(request.method() === 'PUT' && request.url().endsWith('/order'));
  });
  return () => n;
}

test('by keys a capability goes from place 60 to 1 in one request and one entry of the audit, which says so', async ({
  page,
  administrator,
}) => {
  const { groupId, ids } = await withGroup(administrator, 60);
  const asked = orders(page);
  await page.goto(`/admin/capabilities?groupId=${groupId}`);
  await expect.poll(() => shown(page)).toEqual(ids);
  const last = ids.at(-1)!;
  await page.getByRole('button', { name: `Move ${last}`, exact: true }).focus();
  await page.keyboard.down('Alt');
  for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('status').getByText(`${last} is now at place 55 of 60`)).toBeAttached();
  await page.keyboard.press('Home');
  expect(asked()).toBe(0);
  await page.keyboard.up('Alt');
  const wanted = [last, ...ids.slice(0, -1)];
  await expect
    .poll(async () =>
      (await administrator.api<Schemas['AdminCapabilityPage']>('GET', `/api/admin/capabilities?groupId=${groupId}&size=100`)).items.map(
        ({ id }) => id,
      ),
    )
    .toEqual(wanted);
  await expect.poll(() => shown(page)).toEqual(wanted);
  expect(asked()).toBe(1);
  await page.goto('/admin/audit');
  await expect(page.getByText(`Moved ${last} 60 → 1`, { exact: true })).toHaveCount(1);
});

test('a capability that is dragged to the edge of the window takes the list along', async ({ page, administrator }) => {
  const { groupId, ids } = await withGroup(administrator, 31);
  const asked = orders(page);
  await page.goto(`/admin/capabilities?groupId=${groupId}`);
  await expect.poll(() => shown(page)).toEqual(ids);
  const last = ids.at(-1)!;
  const handle = page.getByRole('button', { name: `Move ${last}`, exact: true });
  await handle.scrollIntoViewIfNeeded();
  const from = (await handle.boundingBox())!;
  const scrolled = () => page.evaluate(() => window.scrollY);
  const before = await scrolled();
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, 4, { steps: 8 });
  const wanted = [last, ...ids.slice(0, -1)];
  await expect.poll(() => shownAt(page, from.x + 8, 4)).toEqual(wanted);
  expect(await scrolled()).toBeLessThan(before / 2);
  await page.mouse.up();
  await expect
    .poll(async () =>
      (await administrator.api<Schemas['AdminCapabilityPage']>('GET', `/api/admin/capabilities?groupId=${groupId}&size=100`)).items.map(
        ({ id }) => id,
      ),
    )
    .toEqual(wanted);
  expect(asked()).toBe(1);
});

test('orders in quick succession are stored one after the other, over an edit of something else, without going back or asking', async ({
  page,
  administrator,
  expected,
}) => {
  expected.push(/ 409 /);
  const { groupId, ids } = await withGroup(administrator, 4);
  await page.goto(`/admin/capabilities?groupId=${groupId}`);
  await expect.poll(() => shown(page)).toEqual(ids);
  const answers: number[] = [];
  let [underWay, most] = [0, 0];
  let edited = Promise.resolve();
  await page.route('**/api/admin/capabilities/order', async (route) => {
    most = Math.max(most, ++underWay);
    // The first is held back until the second was pressed, and somebody has edited a name.
    if (answers.length === 0) await edited;
    const response = await route.fetch();
    answers.push(response.status());
    underWay--;
    await route.fulfill({ response });
  });
  const seen = await page.evaluateHandle(() => {
    const orders: string[] = [];
    const body = document.querySelector('tbody')!;
    const look = () => orders.push([...body.querySelectorAll('code')].map((code) => code.textContent).join());
    new MutationObserver(look).observe(body, { childList: true, subtree: true });
    return orders;
  });
  const last = ids[3]!;
  const handle = page.getByRole('button', { name: `Move ${last}`, exact: true });
  await handle.focus();
  let go = () => {};
  edited = new Promise((done) => (go = done));
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => underWay).toBe(1);
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => shown(page)).toEqual([ids[0], last, ids[1], ids[2]]);
  await administrator.api('PATCH', `/api/admin/capabilities/${ids[0]}`, { name: 'Edited meanwhile' });
  go();
  await expect(page.getByRole('link', { name: 'Edited meanwhile' })).toBeVisible();
  await expect.poll(() => answers).toEqual([409, 200, 200]);
  expect(most).toBe(1);
  const wanted = [ids[0], last, ids[1], ids[2]];
  const stored = await administrator.api<Schemas['AdminCapabilityPage']>('GET', `/api/admin/capabilities?groupId=${groupId}`);
  expect(stored.items.map(({ id }) => id)).toEqual(wanted);
  await expect(handle).toBeFocused();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  // From the first press on the row is never seen below the place that was pressed last.
  const places = (await seen.jsonValue()).map((order) => order.split(',').indexOf(last));
  expect(places).toEqual([...places].sort((a, b) => b - a));
  expect(places.at(-1)).toBe(1);
});

test('Escape takes a dragged capability back, and a drop where it was stores nothing', async ({ page, administrator }) => {
  const { groupId, ids } = await withGroup(administrator, 3);
  const asked = orders(page);
  await page.goto(`/admin/capabilities?groupId=${groupId}`);
  await expect.poll(() => shown(page)).toEqual(ids);
  const handle = (await page.getByRole('button', { name: `Move ${ids[0]}`, exact: true }).boundingBox())!;
  const last = (await page.locator('tbody tr').last().boundingBox())!;
  for (const end of ['Escape', 'drop'] as const) {
    await page.mouse.move(handle.x + 8, handle.y + 8);
    await page.mouse.down();
    await page.mouse.move(handle.x + 8, last.y + last.height - 4, { steps: 8 });
    await expect.poll(() => shownAt(page, handle.x + 8, last.y + last.height - 4)).toEqual([ids[1], ids[2], ids[0]]);
    if (end === 'Escape') await page.keyboard.press('Escape');
    else await expect.poll(() => shownAt(page, handle.x + 8, handle.y + 8)).toEqual(ids);
    await page.mouse.up();
    await expect.poll(() => shown(page)).toEqual(ids);
  }
  await expect(page.locator('tr[data-dragged=true]')).toHaveCount(0);
  expect(asked()).toBe(0);
});
