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
  await expect.poll(() => shown(page)).toEqual(wanted);
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
