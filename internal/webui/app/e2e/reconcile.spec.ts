import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';

type Counts = components['schemas']['InvoiceCounts'];
type Comparison = components['schemas']['InvoiceComparison'];

const sums = (input: number, amount: string) => ({
  calls: null,
  input,
  output: 31_000,
  cached: 12_000,
  meters: { input, output: 31_000, cached_input: 12_000, cache_write_1h: 1_234_567 },
  cost: [{ currency: 'USD', amount }],
});

/** Answers as a product would that had counted something in August. */
async function withCounts(page: Page): Promise<void> {
  await page.route('**/api/admin/statistics/reconcile?*', async (route) => {
    if (route.request().method() === 'POST') return route.fallback();
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Counts };
    const cost = [{ amount: '0.61', currency: 'USD', pricedCalls: 114, unpricedCalls: 3 }];
    const line = {
      date: '2026-08-01',
      model: 'gpt-5',
      upstreamModel: 'gpt-5-with-a-name-as-long-as-providers-make-them-2025-08-07',
      calls: 12_345_678,
      reportedCalls: 110,
      partialCalls: 4,
      absentCalls: 5,
      unreadableCalls: 1,
      otherCalls: 0,
      input: 240_000,
      output: 31_000,
      cached: 12_000,
      cacheWrite: 0,
      reasoning: 800,
      meters: { web_searches: 12 },
      cost,
    };
    body.data.items = [line, { ...line, date: '2026-08-02', partialCalls: 0, absentCalls: 0, unreadableCalls: 0, cost: [] }];
    await route.fulfill({ response: answer, json: body });
  });
}

const csv = (text: string) => ({ name: 'invoice.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });

test('what was counted of a month stands by day, and is saved as a file', async ({ page, administrator }) => {
  void administrator;
  await withCounts(page);
  await page.goto('/admin/reconcile?month=2026-08');
  const lines = page.getByRole('region', { name: 'Invoices' }).locator('tbody tr');
  await expect(lines).toHaveCount(2);
  await expect(lines.first()).toContainText(
    /2026-08-01.*gpt-5-with.*counted low: 4.*report of tokens: 6.*price: 3.*Calls 12,345,678.*Input 240,000.*Output 31,000.*Cached 12,000.*USD 0\.61/,
  );
  await expect(page.locator('tfoot')).toContainText(/Total.*all lines: 2.*Calls 24,691,356.*Input 480,000.*USD 0\.61/);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  expect((await saved).suggestedFilename()).toBe('2026-08-UTC.csv');
  await page.getByLabel('Days of').selectOption('America/Los_Angeles');
  await expect(page).toHaveURL('/admin/reconcile?month=2026-08&zone=America%2FLos_Angeles');
  const month = page.getByRole('textbox', { name: 'Month' });
  await expect(month).toHaveValue('2026-08');
  await month.click();
  await page.getByRole('cell', { name: 'Feb' }).click();
  await expect(page).toHaveURL('/admin/reconcile?month=2026-02&zone=America%2FLos_Angeles');
});

test('a file of the provider is held against it by the product itself, and what is wrong with one is told by line', async ({
  page,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /);
  void administrator;
  await page.goto('/admin/reconcile?month=2026-08');
  const file = page.locator('input[type=file]');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'CSV of the provider Choose file' }).click();
  const first = csv('date,model,input_tokens,cost,currency\n2026-08-01,ghost,900,0.5,USD\n2026-07-31,ghost,1,1,USD\n');
  await (await chooser).setFiles(first);
  await expect(page.getByText(first.name)).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: /Lines compared: 1; left out.*: 1\./ })).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'ghost' })).toContainText(
    /Input \+900.*counted —, billed 900.*USD \+0\.5.*counted —, billed 0\.5/,
  );
  await expect(page.getByRole('checkbox', { name: /Only differences/ })).toBeChecked();
  await page.getByRole('checkbox', { name: /Only those without a reason \(1 of/ }).check();
  await expect(page.getByRole('row').filter({ hasText: 'ghost' })).toContainText('No reason known');
  await file.setInputFiles(csv('date,model,input_tokens\n2026-08-01,m,many\n2026-02-30,m,5\n'));
  await expect(page.getByRole('alert')).toContainText(/line 2: .*whole numbers.*line 3: .*date/);
  await file.setInputFiles({ ...first, buffer: Buffer.from([0x64, 0x61, 0x74, 0x65, 0x0a, 0xc4, 0xe3]) }); // as Excel saves Chinese by default
  await expect(page.getByRole('alert')).toContainText('not UTF-8');
  await file.setInputFiles(csv('x'.repeat((1 << 20) + 1)));
  await expect(page.getByRole('alert').filter({ hasText: 'more than 1 MiB' })).toBeVisible();
});

test('invoices fit every width and theme in both languages, compared too', async ({ page, administrator }) => {
  void administrator;
  await withCounts(page);
  await page.route('**/api/admin/statistics/reconcile?*', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Comparison };
    body.data.items = [
      {
        date: '2026-08-01',
        model: 'gpt-5-with-a-name-as-long-as-providers-make-them-2025-08-07',
        capabilityIds: ['gpt-5', 'gpt-5-batch'],
        counted: sums(240_000, '0.61'),
        billed: sums(250_000, '0.65'),
        difference: sums(10_000, '0.04'),
        partialCalls: 4,
        absentCalls: 5,
        unpricedCalls: 1,
        reasons: [
          { reason: 'partial', calls: 4 },
          { reason: 'elsewhere', calls: 5 },
        ],
        unexplained: true,
      },
    ];
    await route.fulfill({ response: answer, json: body });
  });
  for (const width of [390, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/admin/reconcile?month=2026-08');
    await page.locator('input[type=file]').setInputFiles(csv('date,model,input_tokens\n2026-08-01,m,5\n'));
    await expect(page.getByText('gpt-5-batch')).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await page.goto('/admin/reconcile?month=2026-08');
    await inEveryLook(
      page,
      () => expect(page.getByText('2026-08-02')).toBeVisible(),
      async () => {
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
      },
    );
  }
});
