import { mkdirSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '../src/range/days';
import { CLAUDE, prefer, test, type Administrator, type Developer } from './test';

// Not a test: `make screenshots` writes every page in every look to screenshots/, which is ignored.
const folder = process.env['SHOTS'] ?? 'screenshots';
const looks = [['en', 'light', 1440], ['en', 'dark', 1440], ['zh-CN', 'light', 1440], ['zh-CN', 'dark', 390], ['en', 'light', 390]] as const;

async function shoot(page: Page, name: string, url: string, prepare?: () => Promise<void>): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [language, theme, width] of looks) {
    await prefer(page, language, theme);
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    await page.goto(url);
    await page.waitForLoadState('networkidle');
    await prepare?.();
    await page.waitForTimeout(300); // what fades in is there
    await page.screenshot({ path: `${folder}/${name}-${language}-${theme}-${width}.png` });
  }
}

/** A week of figures: the product only has what was called since it started, a minute ago. */
async function withHistory(page: Page): Promise<void> {
  await page.route('**/api/statistics/applications/*?*', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Record<string, unknown> & { daily?: { date: string; calls: number }[]; summary?: object } };
    if (!body.data.daily) return route.fulfill({ response: answer, json: body });
    let [calls, failures] = [0, 0];
    for (const day of body.data.daily) {
      if (day.date > dayOf(Date.now())) continue;
      const n = Math.round(Date.parse(day.date) / 86_400_000) % 97;
      const [made, failed] = [420 + ((n * 137) % 260) + n * 3, 2 + ((n * 7) % 19)];
      calls += made;
      failures += failed;
      Object.assign(day, { calls: made, failures: failed, successes: made - failed, successRate: (made - failed) / made, avgDurationMs: 780 + ((n * 53) % 140), p50Ms: 610, p95Ms: 2100 + ((n * 71) % 500), p99Ms: 4800 });
    }
    const totals = { calls, failures, successes: calls - failures, successRate: (calls - failures) / calls, avgDurationMs: 842, p50Ms: 610, p95Ms: 2100, p99Ms: 4800 };
    Object.assign(body.data.summary ?? body.data, totals);
    const parts = (body.data['capabilities'] ?? body.data['models'] ?? []) as object[];
    const [most, few] = [Math.round(calls * 0.72), Math.round(failures * 0.8)];
    for (const [n, part] of parts.entries()) {
      const [made, failed] = parts.length === 1 ? [calls, failures] : n === 0 ? [most, few] : n === 1 ? [calls - most, failures - few] : [0, 0];
      Object.assign(part, { calls: made, failures: failed, successes: made - failed, successRate: made && (made - failed) / made, avgDurationMs: 790 + n * 130, p95Ms: 1980 + n * 310 });
    }
    body.data['collectedSince'] = `${addDays(dayOf(Date.now()), -800)}T00:00:00.000+08:00`;
    await route.fulfill({ response: answer, json: body });
  });
}

async function seed(developer: Developer): Promise<string> {
  const search = await developer.createApplication('Search assistant');
  const support = await developer.createApplication('Support desk 客服', [CLAUDE]);
  await developer.createApplication('Nightly reports');
  await developer.calls(search.accessKey, 24);
  for (const model of ['demo-error-500', 'demo-cut', 'demo-error-429']) await developer.calls(search.accessKey, 2, { model });
  await developer.call(support.accessKey);
  await developer.calls(support.accessKey, 8, { capability: CLAUDE, path: '/v1/messages', body: { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] } });
  await developer.counted(39);
  return search.id;
}

const error = async (page: Page) => page.route('**/api/statistics/**', (route) => route.fulfill({ status: 503, json: { code: 50301, msg: 'a store is unavailable', data: null } }));

test.beforeEach(({ page, expected }) => {
  expected.push(/./);
  page.setDefaultTimeout(15_000);
  test.setTimeout(300_000);
});

test('sign-in', async ({ page }) => {
  await shoot(page, 'sign-in', '/sign-in');
  await shoot(page, 'admin-sign-in', '/admin/sign-in');
});

test('empty', async ({ page, developer }) => {
  void developer;
  for (const [name, url] of [['overview', '/'], ['applications', '/applications'], ['not-found', '/nowhere']] as const) await shoot(page, `${name}-empty`, url);
});

test('error', async ({ page, developer }) => {
  const { id } = await developer.createApplication('Search assistant');
  await error(page);
  for (const [name, url] of [['overview', '/'], ['applications', '/applications'], ['application', `/applications/${id}`]] as const) await shoot(page, `${name}-error`, url, () => page.getByRole('alert').first().waitFor());
});

test('console', async ({ page, developer }) => {
  const id = await seed(developer);
  await withHistory(page);
  await shoot(page, 'overview', '/');
  await shoot(page, 'overview-30-days', '/?range=30d');
  await shoot(page, 'applications', '/applications');
  await shoot(page, 'application', `/applications/${id}`);
  const log = async () => {
    await page.getByRole('button', { name: /Call log|调用记录/ }).first().click();
    await page.locator('.calls-table tr.call').first().waitFor();
  };
  await shoot(page, 'calls', `/applications/${id}`, log);
  await shoot(page, 'failure', `/applications/${id}`, async () => {
    await log();
    await page.locator('.calls-table tr.call', { hasText: '429' }).first().click();
    await page.locator('.verdict').waitFor();
  });
  await shoot(page, 'application-edit', `/applications/${id}`, () => page.getByRole('button', { name: /^(Edit|编辑)$/ }).first().click());
  await shoot(page, 'capabilities', '/capabilities');
  await shoot(page, 'capability', '/capabilities/demo-chat');
  await shoot(page, 'try-it', `/capabilities/demo-chat?tab=try&app=${id}`, async () => {
    await page.getByRole('button', { name: /^(Send|发送)$/ }).click();
    await page.locator('.try-answer[data-text=true]').waitFor();
  });
});

test('back office', async ({ page, administrator }: { page: Page; administrator: Administrator }) => {
  void administrator;
  for (const name of ['groups', 'capabilities', 'audit'] as const) await shoot(page, `admin-${name}`, `/admin/${name}`);
  await shoot(page, 'admin-capability', '/admin/capabilities/demo-chat');
  await shoot(page, 'admin-capability-new', '/admin/capabilities/new');
});
