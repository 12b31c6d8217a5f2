import type { Page } from '@playwright/test';
import { addDays, clockOf, dayOf } from '../src/range/days';
import { expect, expectAccessible, test } from './test';

const today = () => dayOf(Date.now());
const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const chart = (page: Page) => page.locator('.chart[data-drag]').first();
const band = (page: Page) => page.locator('.chart-band');

/** Presses at one part of the chart, of so many, and moves to another; the button stays down. */
async function drag(page: Page, [from, to]: readonly [number, number], of = 7, y = 0.5): Promise<void> {
  await expect(chart(page).locator('canvas')).toBeVisible();
  const box = (await chart(page).boundingBox())!;
  const at = (part: number) => box.x + 40 + ((box.width - 52) * (part + 0.5)) / of;
  await page.mouse.move(at(from), box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move((at(from) + at(to)) / 2, box.y + box.height * 0.5);
  await page.mouse.move(at(to), box.y + box.height * y);
}

for (const [name, path] of [
  ['overview', '/'],
  ['explore', '/explore?by=application'],
] as const)
  test(`a drag across days narrows the range of ${name}; backwards, beyond the chart, and with Escape not at all`, async ({
    page,
    developer,
  }) => {
    const app = await developer.createApplication('Search');
    await developer.calls(app.accessKey, 2);
    await developer.counted(2);
    const narrowed = (first: number, last: number) => ({ start: addDays(today(), first - 6), end: addDays(today(), last - 6) });
    await page.goto(path);
    await expect(chart(page)).toHaveAttribute('aria-description', 'Drag across to narrow the range.');
    await drag(page, [4, 6]);
    await expect(band(page)).toBeVisible();
    await expectAccessible(page);
    await page.mouse.up();
    await expect.poll(() => query(page)).toMatchObject(narrowed(4, 6));
    await expect(band(page)).toHaveCount(0);

    await page.goto(path);
    await drag(page, [6, 3]); // backwards
    await page.mouse.up();
    await expect.poll(() => query(page)).toMatchObject(narrowed(3, 6));

    await page.goto(path);
    await drag(page, [5, 6.6], 7, -0.3); // ends above the chart, and to the right of its parts
    await page.mouse.up();
    await expect.poll(() => query(page)).toMatchObject(narrowed(5, 6));

    await page.goto(path);
    const before = page.url();
    await drag(page, [3, 5]);
    await expect(band(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(band(page)).toHaveCount(0);
    await page.mouse.move(300, 300);
    await page.mouse.up();
    expect(page.url()).toBe(before);
  });

test('a press that does not move is a click, and touches that go up and down scroll', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 2);
  await developer.counted(2);
  await page.goto('/');
  await drag(page, [6, 6]);
  await page.mouse.up();
  await expect.poll(() => query(page)).toMatchObject({ start: today(), end: today() });
  await expect(chart(page)).toHaveCSS('touch-action', 'pan-y');
});

test('a drag across hours leads to their calls; hours of Explore are not offered', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 2);
  await developer.counted(2);
  const hour = Number(clockOf(Date.now()).slice(0, 2));
  const clock = (n: number) => `${String(n).padStart(2, '0')}:00`;
  const first = Math.max(0, hour - 2);
  await page.goto(`/explore?by=application&start=${today()}&end=${today()}`);
  await expect(page.locator('.chart canvas')).toBeVisible();
  await expect(chart(page)).toHaveCount(0);
  await page.goto(`/?start=${today()}&end=${today()}`);
  await drag(page, [first, hour], 24);
  await page.mouse.up();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/calls');
  expect(query(page)).toMatchObject({ from: clock(first), to: clock(hour + 1) });
  await expect(page.getByText('2 match')).toBeVisible();
});
