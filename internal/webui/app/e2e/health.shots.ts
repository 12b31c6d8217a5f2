import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { tokensOf } from './figures';
import { upstream, withFailures } from './failing';
import { patiently, shoot } from './shots';
import { addDays, dayOf } from '../src/range/days';
import { test } from './test';

type Schemas = components['schemas'];

// As pages.shots.ts, for the back office's figures.
patiently();

const made = (calls: number, failures: number) => ({
  calls,
  failures,
  successes: calls - failures,
  successRate: (calls - failures) / calls,
  avgDurationMs: 842,
  p50Ms: 610,
  p95Ms: 2100,
  p99Ms: 4800,
  ...tokensOf(calls),
});

/** A company's week: the product only has what was called since it started. */
async function withCompany(page: Page, calm: boolean): Promise<void> {
  const today = dayOf(Date.now());
  await page.route(/\/api\/admin\/statistics\/(overview|capabilities)/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as {
      data: Partial<Schemas['FiguresOverview']> & { items?: Schemas['CapabilityFiguresLine'][]; summary?: object };
    };
    const { data } = body;
    const hours = {
      lastHour: { calls: 5_204, failures: calm ? 0 : 64, successRate: calm ? 1 : 0.9877, p95Ms: 2_140 },
      hourBefore: { calls: 4_890, failures: 3, successRate: 0.9993, p95Ms: 1_980 },
    };
    if (data.hours) Object.assign(data.hours, hours);
    data.daily?.forEach((day, n) =>
      Object.assign(day, made(day.date === today ? 41_230 : 88_000 + ((n * 137) % 260) * 90, 12 + ((n * 7) % 19))),
    );
    Object.assign(data, { collectedSince: `${addDays(today, -800)}T00:00:00.000+08:00`, retainedFrom: addDays(today, -399) });
    if (data.now)
      Object.assign(data, made(612_480, 190), {
        applicationCount: 208,
        ownerCount: 61,
        calling: { applicationCount: 143, ownerCount: 48 },
      });
    if (data.now && calm) data.now = { failures: 0, items: [], other: { reasons: 0, failures: 0 } };
    if (data.summary) data.summary = made(98_210, 64);
    if (calm) for (const item of data.items ?? []) Object.assign(item.lastHour, { failures: 0 });
    await route.fulfill({ response: answer, json: body });
  });
}

test('figures of everybody', async ({ page, administrator, developer, playwright }) => {
  const provider = await upstream();
  const { id } = await withFailures(administrator, developer, { ...provider, stranger: () => playwright.request.newContext() }, 40);
  await withCompany(page, true);
  await shoot(page, 'admin-health-calm', '/admin');
  await page.unroute(/\/api\/admin\/statistics\/(overview|capabilities)/);
  await withCompany(page, false);
  await shoot(page, 'admin-health', '/admin');
  await shoot(page, 'admin-usage', '/admin/usage');
  await shoot(page, 'admin-usage-capabilities', '/admin/usage?by=capabilities&sort=failures');
  await shoot(page, 'admin-figures', `/admin/capabilities/${id}/figures`);
  provider.close();
});
