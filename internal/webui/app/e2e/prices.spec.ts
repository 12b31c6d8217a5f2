import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { addDays, dayOf } from '../src/range/days';
import { expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test, type Administrator } from './test';

type Schemas = components['schemas'];
const today = () => dayOf(Date.now());
const field = (page: Page, name: string) => page.getByRole('form').getByLabel(name, { exact: true });
const row = (page: Page, from: string) => page.getByRole('row').filter({ hasText: from });

/** A capability of this test alone. */
async function priced(administrator: Administrator, upstreamModel = 'gpt-5'): Promise<string> {
  const id = `priced-${randomUUID().slice(0, 8)}`;
  const { items } = await administrator.api<Schemas['GroupList']>('GET', '/api/admin/groups');
  await administrator.api('POST', '/api/admin/capabilities', {
    id,
    name: `Name ${id}`,
    groupId: items[0]!.id,
    upstreamBaseUrl: 'http://127.0.0.1:9/base',
    upstreamKey: 'a-key',
    upstreamModel,
    defaultPath: '/v1/chat/completions',
  });
  return id;
}

const put = (administrator: Administrator, capabilityId: string, more: object = {}) =>
  administrator.api<Schemas['Price']>('PUT', '/api/admin/prices', {
    capabilityId,
    from: '2026-01-01',
    currency: 'CNY',
    input: '2',
    output: '8',
    ...more,
  });
const listed = async (administrator: Administrator, id: string) =>
  (await administrator.api<Schemas['PriceItems']>('GET', `/api/admin/prices?capability=${id}`)).items;

test('a price is entered for a capability, counts from its day, and another day makes a history', async ({ page, administrator }) => {
  const id = await priced(administrator);
  await page.goto(`/admin/prices?capability=${id}`);
  await expect(page.getByText(`${id} has no price yet`)).toBeVisible();
  await page.getByRole('button', { name: 'New price' }).click();
  await expect(field(page, 'Capability')).toHaveValue(id);
  await expect(field(page, 'From')).toHaveValue(today());
  await field(page, 'Currency').fill('cny');
  await field(page, 'Input').fill('2.50');
  await field(page, 'Cached').fill('0.25');
  await field(page, 'Output').fill('8');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, today())).toContainText('In effect');
  await expect(row(page, today()).getByRole('cell')).toContainText([id, today(), 'CNY', '2.5', '0.25', 'as input', '8', 'Correct']);
  await page.getByRole('button', { name: 'New price' }).click();
  const later = addDays(today(), 10);
  await field(page, 'From').fill(later);
  for (const [name, text] of [
    ['Currency', 'USD'],
    ['Input', '3'],
    ['Output', '9'],
  ] as const)
    await field(page, name).fill(text);
  await page.keyboard.press('Enter');
  await expect(row(page, later)).toContainText('To come');
  await expect(row(page, 'In effect')).toContainText(`until ${addDays(later, -1)}`);
  expect((await listed(administrator, id)).map(({ from, currency }) => [from, currency])).toEqual([
    [later, 'USD'],
    [today(), 'CNY'],
  ]);
  await page.goto(`/admin/audit?target=${id}`);
  await expect(page.getByRole('row').filter({ hasText: `${id} ${later}` })).toContainText('Entered price');
});

test('a price is corrected where it stands and taken out once that is confirmed', async ({ page, administrator }) => {
  const id = await priced(administrator);
  await put(administrator, id);
  await page.goto(`/admin/prices?capability=${id}`);
  await page.getByRole('button', { name: `Correct the price of ${id} from 2026-01-01` }).click();
  await expect(field(page, 'From')).toHaveAttribute('readonly', '');
  await field(page, 'Input').fill('2.4');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, '2026-01-01')).toContainText('2.4');
  expect((await listed(administrator, id)).map(({ input }) => input)).toEqual(['2.4']);
  await page.getByRole('button', { name: `Delete the price of ${id} from 2026-01-01` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText(`${id} has no price yet`)).toBeVisible();
  expect(await listed(administrator, id)).toEqual([]);
});

test('a rate is entered, corrected and deleted beneath the prices', async ({ page, administrator }) => {
  await page.goto('/admin/prices');
  const rates = page.getByRole('region', { name: 'Rates between currencies' });
  await rates.getByRole('button', { name: 'New rate' }).click();
  await field(page, 'One unit of').fill('chf');
  await field(page, 'Is, in').fill('isk');
  await field(page, 'Rate').fill('155.20');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(rates.getByRole('row').filter({ hasText: 'CHF → ISK' })).toContainText(`${today()}`);
  await rates.getByRole('button', { name: `Correct the rate CHF → ISK from ${today()}` }).click();
  await expect(field(page, 'One unit of')).toHaveAttribute('readonly', '');
  await field(page, 'Rate').fill('0');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await field(page, 'Rate').fill('156');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(rates.getByRole('row').filter({ hasText: 'CHF → ISK' })).toContainText('156');
  await rates.getByRole('button', { name: `Delete the rate CHF → ISK from ${today()}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(rates.getByText('There is no rate')).toBeVisible();
  const { items } = await administrator.api<Schemas['ExchangeItems']>('GET', '/api/admin/rates');
  expect(items).toEqual([]);
  await page.goto('/admin/audit?target=CHF%20ISK');
  await expect(page.getByRole('row').filter({ hasText: 'CHF ISK' }).first()).toContainText('Deleted rate');
});

test('a provider is believed about what it charges, and is no more', async ({ page, administrator }) => {
  const id = await priced(administrator);
  const other = await priced(administrator);
  await page.goto('/admin/prices');
  const block = page.getByRole('region', { name: 'Costs that providers tell' });
  await block.getByRole('button', { name: 'Believe a provider' }).click();
  await field(page, 'Capability').fill(id);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(block.getByRole('row').filter({ hasText: id })).toBeVisible();
  await expect(block.getByRole('row').filter({ hasText: other })).toHaveCount(0);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await block.getByRole('button', { name: `Stop believing the provider of ${id}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await expect(block.getByRole('row').filter({ hasText: id })).toHaveCount(0);
  const { items } = await administrator.api<Schemas['BelievedItems']>('GET', '/api/admin/prices/believed');
  expect(items.map(({ capabilityId }) => capabilityId)).not.toContain(id);
});

test('the name of a capability that comes late moves nothing', async ({ page, administrator }) => {
  const id = await priced(administrator);
  await page.goto('/admin/prices');
  const come: { now?: () => void } = {};
  const late = new Promise<void>((now) => (come.now = now));
  await page.route(/\/api\/admin\/capabilities\?/, async (route) => {
    await late;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Believe a provider' }).click();
  await field(page, 'Capability').fill(id);
  const form = page.getByRole('form');
  const height = async () => (await form.boundingBox())!.height;
  const before = await height();
  come.now!();
  await expect(form.getByRole('paragraph').filter({ hasText: `Name ${id}` })).toBeVisible();
  expect(await height()).toBe(before);
});

test('a price that somebody else corrected meanwhile is shown before it is replaced', async ({ page, administrator, expected }) => {
  expected.push(/ 409 /);
  const id = await priced(administrator);
  await put(administrator, id);
  await page.goto(`/admin/prices?capability=${id}`);
  await page.getByRole('button', { name: `Correct the price of ${id}` }).click();
  await put(administrator, id, { input: '7' });
  await field(page, 'Input').fill('5');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert')).toContainText('Somebody else changed it to 7 / 7 / 7 / 8 CNY meanwhile.');
  expect((await listed(administrator, id))[0]!.input).toBe('7');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, '2026-01-01').getByRole('cell').nth(3)).toContainText('5');
});

test('what is wrong with a price is said at its field, and a day that has a price says what is replaced', async ({
  page,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /);
  const id = await priced(administrator);
  await put(administrator, id);
  await page.goto(`/admin/prices?capability=${id}`);
  await page.getByRole('button', { name: 'New price' }).click();
  await field(page, 'From').fill('2026-02-30');
  await expect(page.getByText('Must be a date of the form YYYY-MM-DD.')).toBeVisible();
  await field(page, 'From').fill('2026-01-01');
  await expect(page.getByText('This replaces the price of that day: 2 / 2 / 2 / 8 CNY.')).toBeVisible();
  for (const [name, text] of [
    ['Currency', 'YUAN'],
    ['Input', '1,5'],
    ['Output', '-1'],
  ] as const)
    await field(page, name).fill(text);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('must be an ISO 4217 code in capitals, such as CNY or USD')).toBeVisible();
  await expect(page.getByText(/must be a decimal such as 2.5/)).toHaveCount(2);
  await expect(field(page, 'Currency')).toBeFocused();
  expect((await listed(administrator, id))[0]!.input).toBe('2');
});

test('public prices are suggested by the upstream model, fill the form only when used, and name their source', async ({
  page,
  administrator,
}) => {
  const id = await priced(administrator);
  await page.goto(`/admin/prices?capability=${id}`);
  await page.getByRole('button', { name: 'New price' }).click();
  const suggested = page.getByRole('region', { name: 'Public list prices' });
  await expect(suggested.getByRole('listitem').first()).toContainText('OpenAI gpt-5');
  await expect(suggested).toContainText('(MIT)');
  expect(await listed(administrator, id)).toEqual([]);
  await suggested.getByRole('button', { name: 'Use the price of gpt-5 by OpenAI' }).first().click();
  await expect(field(page, 'Currency')).toHaveValue('USD');
  await expect(field(page, 'Input')).toHaveValue('1.25');
  await field(page, 'Upstream model').fill('claude-sonnet-4-5');
  await expect(suggested.getByRole('listitem').first()).toContainText('Anthropic claude-sonnet-4-5');
  await field(page, 'Upstream model').fill('no-model-anybody-knows');
  await expect(suggested).toContainText('The catalog does not have this model.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, 'no-model-anybody-knows')).toContainText('1.25');
});

test('a price of a tier, of long calls and of more meters is entered, listed, corrected and told in the audit', async ({
  page,
  administrator,
  expected,
}) => {
  expected.push(/ 400 /);
  const id = await priced(administrator);
  await put(administrator, id);
  await page.goto(`/admin/prices?capability=${id}`);
  await page.getByRole('button', { name: 'New price' }).click();
  await field(page, 'Service tier').fill('flex');
  await field(page, 'Length of calls').selectOption('over 200,000 input tokens');
  await field(page, 'From').fill('2026-01-01');
  await expect(page.getByText('This replaces the price of that day')).toHaveCount(0);
  for (const [name, text] of [
    ['Currency', 'USD'],
    ['Input', '0.000000000001'],
    ['Output', '9'],
  ] as const)
    await field(page, name).fill(text);
  const meters = page.getByRole('group', { name: 'Add a meter' });
  for (const [n, [meter, amount]] of [
    ['Cache write, 1 hour', '6'],
    ['Web searches', 'ten'],
    ['Images', '0.04'],
  ].entries()) {
    await meters.getByRole('button', { name: 'Add a meter' }).click();
    await meters.getByLabel('Meter', { exact: true }).nth(n).selectOption(meter!);
    await meters.getByLabel('Amount', { exact: true }).nth(n).fill(amount!);
  }
  await expect(meters.getByText('per image')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(/must be a decimal such as 2.5/)).toHaveCount(1);
  await expect(meters.getByLabel('Amount', { exact: true }).nth(1)).toBeFocused();
  await meters.getByLabel('Amount', { exact: true }).nth(1).fill('10');
  await meters.getByRole('button', { name: 'Remove Images' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  const entered = row(page, 'tier flex');
  await expect(entered).toContainText('over 200,000 input tokens');
  await expect(entered).toContainText('Cache write, 1 hour 6 per million tokens');
  await expect(entered).toContainText('Web searches 10 per thousand');
  await expect(entered).toContainText('0.000000000001');
  expect((await listed(administrator, id)).map(({ tier, fromBand, amounts }) => [tier, fromBand, amounts])).toEqual([
    [null, 0, {}],
    ['flex', 200_000, { cache_write_1h: '6', web_searches: '10' }],
  ]);
  await page.getByRole('button', { name: `Correct the price of ${id} tier flex · over 200,000 input tokens from 2026-01-01` }).click();
  await expect(field(page, 'Service tier')).toHaveAttribute('readonly', '');
  await expect(field(page, 'Length of calls')).toBeDisabled();
  await meters.getByLabel('Amount', { exact: true }).first().fill('7');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(entered).toContainText('Cache write, 1 hour 7 per million tokens');
  await page.goto(`/admin/audit?target=${id}`);
  await expect(
    page
      .getByRole('row')
      .filter({ hasText: `${id} flex >200000 2026-01-01` })
      .first(),
  ).toContainText('Cache write, 1 hour');
});

test('a suggestion of long calls and an hour’s cache writes fills in both', async ({ page, administrator }) => {
  const id = await priced(administrator, 'gemini-2.5-pro');
  await page.goto(`/admin/prices?capability=${id}`);
  await page.getByRole('button', { name: 'New price' }).click();
  const suggested = page.getByRole('region', { name: 'Public list prices' });
  const long = suggested.getByRole('listitem').filter({ hasText: 'over 200,000 input tokens' }).first();
  await long.getByRole('button').click();
  await expect(field(page, 'Length of calls')).toHaveValue('200000');
  await expect(field(page, 'Input')).toHaveValue('2.5');
  await field(page, 'Upstream model').fill('claude-opus-4-8');
  await suggested.getByRole('button', { name: 'Use the price of claude-opus-4-8 by Anthropic' }).first().click();
  await expect(field(page, 'Length of calls')).toHaveValue('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, 'claude-opus-4-8')).toContainText('Cache write, 1 hour 10 per million tokens');
});

test('what was used this week without a price is listed, and priced from there', async ({ page, administrator }) => {
  const id = await priced(administrator);
  const start = addDays(today(), -6);
  let items: Schemas['UnpricedModel'][] = [
    { capabilityId: id, upstreamModel: 'gpt-5-2025-08-07', calls: 12_345, input: 9_876_543, output: 1_234, lastDay: today() },
    { capabilityId: id, upstreamModel: null, calls: 1, input: 2, output: 3, lastDay: start },
  ];
  await page.route('**/api/admin/prices/unpriced', (route) =>
    route.fulfill({ json: { code: 0, msg: 'ok', data: { start, end: today(), total: items.length, items } } }),
  );
  await page.goto('/admin/prices');
  const unpriced = page.getByRole('region', { name: 'Used this week without a price' });
  await expect(unpriced.getByRole('listitem')).toContainText([
    `gpt-5-2025-08-07Calls 12,345 · input 9,876,543 · output 1,234 · last on ${today()}`,
    'the upstream named no model',
  ]);
  await expectAccessible(page);
  await unpriced.getByRole('button', { name: `Set price of ${id} gpt-5-2025-08-07` }).click();
  await expect(field(page, 'Capability')).toHaveValue(id);
  await expect(field(page, 'Upstream model')).toHaveValue('gpt-5-2025-08-07');
  await expect(field(page, 'From')).toHaveValue(start);
  for (const [name, text] of [
    ['Currency', 'USD'],
    ['Input', '3'],
    ['Output', '9'],
  ] as const)
    await field(page, name).fill(text);
  items = [];
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(unpriced).toHaveCount(0);
  expect((await listed(administrator, id)).map(({ upstreamModel, from }) => [upstreamModel, from])).toEqual([['gpt-5-2025-08-07', start]]);
});

test('the real server tells what is unpriced, and nothing of a capability that nobody called', async ({ administrator }) => {
  const id = await priced(administrator);
  const { start, end, items } = await administrator.api<Schemas['Unpriced']>('GET', '/api/admin/prices/unpriced');
  expect([start, end]).toEqual([addDays(today(), -6), today()]);
  expect(items.filter(({ capabilityId }) => capabilityId === id)).toEqual([]);
});

test('prices fit every width and theme in both languages', async ({ page, administrator }) => {
  const id = await priced(administrator);
  await put(administrator, id, {
    upstreamModel: 'a-model-whose-name-is-as-long-as-names-of-models-are-nowadays-2026-08-01',
    input: '123456789.1234',
  });
  await put(administrator, id);
  await put(administrator, id, { from: '2026-02-01', cached: '0.1', cacheWrite: '2.5' });
  await put(administrator, id, {
    tier: 'priority',
    fromBand: 1_000_000,
    amounts: { cache_write_30m: '1.123456789012', milliseconds: '0.0001' },
  });
  for (const width of [390, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/admin/prices?capability=${id}`);
    await inEveryLook(
      page,
      () => expect(page.getByText('123456789.1234')).toBeVisible(),
      async () => {
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
        await page.getByRole('button', { name: /^(New price|新建价格)$/ }).click();
        await expect(page.getByText('OpenAI').first()).toBeVisible();
        await page.getByRole('button', { name: /^(Add a meter|添加计量项)$/ }).click();
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
      },
    );
  }
});
