import { randomUUID } from 'node:crypto';
import { CHAT, expect, expectAccessible, expectNoSidewaysScroll, inEveryLook, test } from './test';
import { addDays, dayOf } from '../src/range/days';
import { count } from '../src/format/format';
import { together } from '../src/tokens/tokens';

const tile = (name: string) => `.tile:has(dt:text-is("${name}")) strong`;

test('tokens and their estimated cost are those of the calls, corrected prices show at once, and a call tells its own', async ({
  page,
  developer,
  administrator,
}) => {
  const [from, model] = [addDays(dayOf(Date.now()), -1), `demo-${randomUUID().slice(0, 8)}`]; // other tests call the same capability
  const price = (input: string) =>
    administrator.api('PUT', '/api/admin/prices', {
      capabilityId: CHAT,
      upstreamModel: model,
      from,
      currency: 'USD',
      input,
      cached: null,
      cacheWrite: null,
      output: '4',
    });
  const app = await developer.createApplication('Counted');
  await developer.calls(app.accessKey, 2, { model });
  await developer.counted(2);
  await price('1');
  const { summary } = await developer.statistics(app.id);
  expect(summary.tokens).toMatchObject({ reportedCalls: 2, partialCalls: 0, unreadableCalls: 0 });
  expect(together(summary.tokens)).toBeGreaterThan(0);
  await page.goto(`/applications/${app.id}`);
  await expect(page.locator(tile('Input tokens'))).toHaveText(count(summary.tokens.input));
  await expect(page.locator(tile('Output tokens'))).toHaveText(count(summary.tokens.output));
  await expect(page.locator(tile('Calls that report tokens'))).toHaveText('2');
  const costs = (input: number) =>
    `USD ${((summary.tokens.input! * input + summary.tokens.output! * 4) / 1e6).toFixed(10).replace(/0+$/, '')}`;
  await expect(page.locator(tile('Estimated cost, USD'))).toHaveAttribute('title', costs(1));
  await price('3');
  await page.reload();
  await expect(page.locator(tile('Estimated cost, USD'))).toHaveAttribute('title', costs(3));

  await page.getByRole('region', { name: 'Daily trend' }).getByRole('button', { name: 'Tokens' }).click();
  await expect(page.locator('.legend')).toContainText('Output tokens');
  await page.getByRole('button', { name: 'Call log' }).click();
  await page.locator('.call-drawer .call-id').first().click();
  await expect(page.locator('.call-drawer .call-facts')).toContainText(/Tokens\d+ in, \d+ out/);
});

test('where nothing was reported there is nothing of tokens, and streams that report none say how to get them', async ({
  page,
  developer,
}) => {
  const app = await developer.createApplication('Silent');
  await developer.calls(app.accessKey, 1, { model: 'demo-error-429' });
  await developer.counted(1);
  await page.goto(`/applications/${app.id}`);
  await expect(page.getByRole('region', { name: 'By capability' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Tokens' })).toHaveCount(0);
  await page.route(`**/api/statistics/applications/${app.id}?*`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { summary: { tokens: object } } };
    Object.assign(body.data.summary.tokens, { absentCalls: 19, streamedCalls: 50, streamedAbsentCalls: 19 });
    await route.fulfill({ response: answer, json: body });
  });
  await page.reload();
  await expect(page.getByRole('region', { name: 'Tokens' })).toContainText('38% of the streamed calls report no usage');
  await expect(page.getByRole('region', { name: 'Tokens' }).locator('pre')).toHaveText('"stream_options": {"include_usage": true}');
});

test('the block of tokens is accessible in both themes and languages, and fits a phone', async ({ page, developer }) => {
  const app = await developer.createApplication('Counted');
  await developer.calls(app.accessKey, 1);
  await developer.counted(1);
  await inEveryLook(
    page,
    async () => {
      await page.goto(`/applications/${app.id}`);
      await expect(page.locator('section.tokens')).toBeVisible();
    },
    () => expectAccessible(page),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
});
