import { button, dialog, few, patiently, shoot, twice, withCalls, type Words } from './shots';
import { dayOf } from '../src/range/days';
import { CHAT, test } from './test';

// As pages.shots.ts, for the calls of an application.
patiently();

test('calls', async ({ page, developer }) => {
  const { id } = await withCalls(developer);
  const log = async (words: Words) => {
    await button(page, words.applications.log).first().click();
    await page.locator('.calls-table tr.call').first().waitFor();
  };
  const call = (text: string) => async (words: Words) => {
    await log(words);
    await page.locator('.call-figures button').click();
    await page.locator('.calls-table tr.call', { hasText: text }).first().click();
    await page.locator('.verdict, .call-more').first().waitFor();
  };
  await shoot(page, 'calls', `/applications/${id}`, { prepare: log, height: 900 });
  await shoot(
    page,
    'calls-success',
    `/applications/${id}`,
    dialog(async (words) => {
      await log(words);
      await page.locator('.calls-table tr.call', { hasText: words.calls.result.success }).first().click();
      await page.locator('.call-more').waitFor();
    }),
  );
  await shoot(
    page,
    'calls-failures',
    `/applications/${id}`,
    dialog(async (words) => {
      await log(words);
      await page.locator('.call-figures button').click();
      await page.locator('.calls-table tr.call', { hasText: '429' }).first().waitFor();
    }),
  );
  await shoot(
    page,
    'calls-date',
    `/applications/${id}`,
    dialog(async (words) => {
      await log(words);
      await button(page, words.calls.date).click();
      await page.locator('.ant-picker-dropdown').waitFor();
    }),
  );
  await shoot(page, 'failure', `/applications/${id}`, { prepare: call('429'), height: 1100 });
  await shoot(page, 'failure-unknown', `/applications/${id}`, { prepare: call('403'), looks: twice, height: 1100 });
  await shoot(page, 'failure-interrupted', `/applications/${id}`, { prepare: call('499'), looks: twice, height: 1100 });
  await developer.api('PATCH', `/api/applications/${id}/status`, { status: 'disabled' });
  await shoot(page, 'failure-no-model', `/applications/${id}`, { prepare: call('400'), looks: twice, height: 1100 });
});

test('explorer', async ({ page, developer }) => {
  const { id } = await withCalls(developer);
  const today = dayOf(Date.now());
  const one = async (status: number) => {
    const { items } = await developer.api<{ items: { callId: string }[] }>(
      'GET',
      `/api/statistics/applications/${id}/calls?status=${status}`,
    );
    return items[0]!.callId;
  };
  const [failed, whole] = [await one(429), await one(200)];
  await shoot(page, 'explorer', `/applications/${id}/calls`);
  await shoot(
    page,
    'explorer-filtered',
    `/applications/${id}/calls?start=${today}&end=${today}&result=failure&reason=upstream_http_error:upstream_status&from=00:00&to=24:00`,
    few(),
  );
  await shoot(page, 'explorer-nothing', `/applications/${id}/calls?text=nothing+says+this`, few());
  await shoot(page, 'explorer-call', `/applications/${id}/calls/${failed}`);
  await shoot(page, 'call-failed', `/calls/${failed}`, few());
  await shoot(page, 'call-succeeded', `/calls/${whole}`, few());
  await shoot(page, 'day-by-hour', `/applications/${id}?start=${today}&end=${today}`);
  await shoot(
    page,
    'day-by-hour-table',
    `/?start=${today}&end=${today}`,
    few((words) => button(page, words.common.chart.table).click()),
  );
  await shoot(page, 'replay', `/capabilities/${CHAT}?tab=try&app=${id}&replay=${failed}`, few());
  await shoot(
    page,
    'search',
    '/',
    dialog(async () => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('demo');
      await page.getByRole('option').first().waitFor();
    }),
  );
  await shoot(
    page,
    'shortcuts',
    '/',
    dialog(async (words) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: words.common.keys.title }).waitFor();
    }),
  );
});
