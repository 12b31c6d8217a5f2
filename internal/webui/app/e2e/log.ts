import type { Locator, Page } from '@playwright/test';
import { expect, type Developer, type NewApplication } from './test';

/** Parts of the call drawer. */
export const calls = (page: Page): Locator => page.locator('.calls-table tr.call');
export const figures = (page: Page): Locator => page.locator('.call-figures');
export const verdict = (page: Page): Locator => page.locator('.verdict').last();
export const part = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });

export async function openLog(page: Page, app: NewApplication, path = `/applications/${app.id}`): Promise<Locator> {
  await page.goto(path);
  await page
    .getByRole('button', { name: /^Call log/ })
    .first()
    .click();
  const drawer = page.getByRole('dialog', { name: `Call log of ${app.name}` });
  await expect(drawer).toBeVisible();
  return drawer;
}

/** Opens the detail of the only failure there is. */
export async function openFailure(page: Page, developer: Developer, app: NewApplication): Promise<void> {
  await developer.counted(1);
  await openLog(page, app);
  await calls(page).first().click();
  await expect(part(page, 'Failure detail')).toBeVisible();
}
