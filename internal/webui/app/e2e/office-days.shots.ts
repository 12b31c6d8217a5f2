import type { components } from '../src/api/schema';
import { patiently, shoot } from './shots';
import { test } from './test';

type Schemas = components['schemas'];

// As pages.shots.ts, for closed days and invoices.
patiently();

test('closed days and invoices', async ({ page, administrator }) => {
  void administrator;
  const at = '2026-08-17T00:45:08.000+08:00';
  const spool = { id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3', host: 'gateway-2' };
  const closed: Schemas['ClosedDay'] = {
    day: '2026-08-15',
    state: 'closed',
    since: at,
    revision: 1,
    closedAt: at,
    waitsFor: null,
    heldBy: [],
    applicationCount: 12,
    calls: 482_100,
    failures: 161,
    missingCalls: 0,
    spools: [],
  };
  const open: Schemas['ClosedDay'] = {
    ...closed,
    state: 'open',
    since: null,
    revision: 0,
    closedAt: null,
    waitsFor: 'time',
    applicationCount: null,
    calls: null,
    failures: null,
    missingCalls: null,
  };
  const items = [
    { ...open, day: '2026-08-17' },
    { ...open, day: '2026-08-16', waitsFor: 'spools', heldBy: [{ ...spool, through: at, silent: true }] },
    closed,
    { ...closed, day: '2026-08-14', state: 'reopened', waitsFor: 'check' },
    {
      ...closed,
      day: '2026-08-13',
      revision: 2,
      missingCalls: 512,
      spools: [{ ...spool, retiredAt: at, retiredBy: 'root@example.com', calls: null }],
    },
  ];
  await page.route('**/api/admin/days', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: { items } } }));
  await shoot(page, 'days', '/admin/spools');
  const sums = (input: number, amount: string) => ({
    calls: null,
    input,
    output: 31_000,
    cached: 12_000,
    meters: { input, output: 31_000, cached_input: 12_000, web_searches: 12 },
    cost: [{ currency: 'USD', amount }],
  });
  await page.route('**/api/admin/statistics/reconcile?*', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { items: unknown[] } };
    body.data.items = [1, 2, 3].map((n) => ({
      date: `2026-08-0${n}`,
      model: 'gpt-5-2025-08-07',
      capabilityIds: ['gpt-5'],
      counted: sums(240_000 * n, '0.61'),
      billed: sums(250_000 * n, '0.65'),
      difference: sums(10_000 * n, '0.04'),
      partialCalls: 4,
      absentCalls: 5,
      unpricedCalls: n - 1,
      reasons: [{ reason: 'partial', calls: 4 }],
      unexplained: n === 2,
    }));
    if (route.request().method() === 'POST') await route.fulfill({ response: answer, json: body });
    else await route.fulfill({ response: answer });
  });
  await shoot(page, 'reconcile', '/admin/reconcile?month=2026-08', {
    prepare: async () => {
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'invoice.csv', mimeType: 'text/csv', buffer: Buffer.from('date,model,input_tokens\n2026-08-01,m,5\n') });
      await page.getByText('2026-08-03').waitFor();
    },
  });
});
