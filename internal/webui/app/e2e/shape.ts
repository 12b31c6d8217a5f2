import type { Locator, Page } from '@playwright/test';

/** Holds answers back until the returned function is called. */
export async function held(page: Page, url: RegExp): Promise<() => void> {
  let arrive: () => void = () => undefined;
  const waiting = new Promise<void>((done) => (arrive = done));
  await page.route(url, async (route) => {
    await waiting;
    await route.fallback();
  });
  return arrive;
}

/** Waits until nothing has moved for ten frames: on a busy machine a motion begins some frames after its element is there. */
export const settled = (page: Page): Promise<unknown> =>
  page.evaluate(async () => {
    for (let still = 0; still < 10; still++) {
      await new Promise((drawn) => requestAnimationFrame(drawn));
      const moving = document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations !== Infinity);
      if (moving.length > 0) still = 0;
      await Promise.allSettled(moving.map((one) => one.finished));
    }
  });

/** Where each cell of a table stands, in whole pixels. */
export const shape = (table: Locator): Promise<number[][][]> =>
  table.evaluate((element: HTMLTableElement) =>
    [...element.rows].map((row) =>
      [...row.cells].map((cell) => {
        const { x, y, width, height } = cell.getBoundingClientRect();
        return [x, y, width, height].map(Math.round);
      }),
    ),
  );

/** Where an element stands, in whole pixels. */
export const box = (element: Locator): Promise<number[]> =>
  element.evaluate((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  });
