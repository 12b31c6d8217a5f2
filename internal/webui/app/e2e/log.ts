import type { Locator, Page } from '@playwright/test';
import type { components } from '../src/api/schema';
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

/** The ids of calls that an application made today as the list has them: of one millisecond, in an order of its own. */
export async function listed(developer: Developer, app: NewApplication, made: readonly string[], result = ''): Promise<string[]> {
  const all: string[] = [];
  for (let number = 1; number <= Math.ceil(made.length / 10); number++) {
    const path = `/api/statistics/applications/${app.id}/calls?${result && `result=${result}&`}page=${number}`;
    all.push(...(await developer.api<components['schemas']['CallPage']>('GET', path)).items.map(({ callId }) => callId));
  }
  expect([...all].sort()).toEqual([...made].sort());
  return all;
}
