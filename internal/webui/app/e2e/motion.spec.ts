import type { Page } from '@playwright/test';
import { calls } from './log';
import { expect, test } from './test';

/** What moved since the page was opened: transitions and animations that ran. */
const moved = (page: Page): Promise<string[]> => page.evaluate(() => (window as unknown as { moved: string[] }).moved);

for (const motion of ['reduce', 'no-preference'] as const) {
  test(`drawers, dialogs, menus and notices ${motion === 'reduce' ? 'do not move for who asked for less motion' : 'move otherwise'}`, async ({
    page,
    developer,
  }) => {
    await page.emulateMedia({ reducedMotion: motion });
    await page.addInitScript(() => {
      const seen = ((window as unknown as { moved: string[] }).moved = [] as string[]);
      for (const type of ['transitionrun', 'animationstart'] as const)
        document.addEventListener(
          type,
          (event) =>
            seen.push(
              `${type} ${event instanceof TransitionEvent ? event.propertyName : (event as AnimationEvent).animationName} of ${(event.target as Element).className}`,
            ),
          true,
        );
    });
    const { id, accessKey } = await developer.createApplication('Search');
    await developer.calls(accessKey, 2, { model: 'demo-error-500' });
    await developer.counted(2);
    await page.goto(`/applications/${id}`);
    await expect(page.locator('.chart canvas')).toBeVisible();
    await page.getByRole('button', { name: 'Last 30 days' }).click();
    await page
      .getByRole('button', { name: /^Call log/ })
      .first()
      .click();
    await calls(page).first().click();
    await expect(page.locator('.verdict')).toBeVisible();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('dialog').getByRole('checkbox').first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.getByRole('link', { name: 'Usage' }).click();
    await expect(page.locator('.range-span')).toBeVisible();
    await page.keyboard.press('c');
    await expect(page.locator('.ant-picker-dropdown')).toBeVisible();
    await page.keyboard.press('Escape');
    if (motion === 'reduce') expect(await moved(page)).toEqual([]);
    else expect(await moved(page)).not.toEqual([]);
  });
}
