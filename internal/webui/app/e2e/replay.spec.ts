import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { verdict } from './log';
import { CHAT, expect, expectAccessible, test } from './test';

const body = (page: Page) => page.getByLabel('Body (JSON)');
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true });

test('a failed call’s request is sent again with path, query and body, once what was redacted is filled in', async ({
  page,
  developer,
  expected,
}) => {
  expected.push(/gateway.* 429 /);
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey, {
    path: '/v1/chat/completions',
    query: { 'api-version': '2026-01', api_key: 'hunter2hunter2' },
    body: {
      model: 'demo-error-429',
      user_password: 'hunter2hunter2',
      password: 'hunter2hunter2',
      messages: [{ role: 'user', content: 'x'.repeat(1100) }],
      seed: 7,
    },
  });
  await developer.counted(1);
  await page.goto(`/calls/${callId}`);
  await expect(verdict(page)).toContainText('The upstream answered 429');
  await page.getByRole('link', { name: 'Send again in Try it' }).click();
  await expect(page).toHaveURL(`/capabilities/${CHAT}?tab=try&app=${app.id}&replay=${callId}`);
  await expect(page.getByLabel('Path')).toHaveValue('/v1/chat/completions?api-version=2026-01&api_key=[REDACTED]');
  const sent = JSON.parse(await body(page).inputValue()) as Record<string, unknown>;
  expect(sent).toMatchObject({ model: 'demo-error-429', password: '[REDACTED]', seed: 7 });
  const gaps = page.locator('.gaps');
  await expect(gaps).toContainText(/\d places were redacted or cut/);
  await expect(send(page)).toBeDisabled();
  await body(page).press('Control+Enter'); // neither by keyboard
  await expectAccessible(page);
  await page.reload();
  await expect(send(page)).toBeDisabled();
  await gaps.getByRole('button', { name: 'Path' }).click();
  await page.keyboard.insertText('demo');
  await expect(page.getByLabel('Path')).toHaveValue('/v1/chat/completions?api-version=2026-01&api_key=demo');
  for (let left = await gaps.getByRole('button').count(); left > 0; left = await gaps.getByRole('button').count()) {
    await gaps.getByRole('button').first().click();
    await page.keyboard.insertText('filled');
    await expect(gaps.getByRole('button')).toHaveCount(left - 1);
  }
  await expect(gaps).toHaveCount(0);
  expect(JSON.parse(await body(page).inputValue())).toMatchObject({ password: 'filled', seed: 7 });
  await send(page).click();
  const answer = page.getByRole('region', { name: 'Response' });
  await expect(answer.locator('dt', { hasText: 'Status' }).locator('+ dd')).toHaveText('429');
  const again = (await answer.locator('dt', { hasText: 'Call id' }).locator('+ dd').textContent())!;
  await developer.counted(2);
  const { failure } = await developer.api<components['schemas']['FoundCall']>('GET', `/api/calls/${again}`);
  expect(failure).toMatchObject({
    request: { method: 'POST', path: '/v1/chat/completions' },
    query: { model: CHAT, 'api-version': '2026-01', api_key: '[REDACTED]' },
    requestBody: { model: 'demo-error-429', seed: 7 },
  });
});

test('a call whose body was not kept says so and offers an example; one that succeeded has nothing to send again', async ({
  page,
  developer,
}) => {
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey, { body: { model: 'demo-error-500', text: 'x'.repeat(17_000) } });
  const whole = await developer.call(app.accessKey);
  await developer.counted(2);
  await page.goto(`/capabilities/${CHAT}?tab=try&app=${app.id}&replay=${callId}`);
  await expect(page.locator('.replaying')).toContainText('Its body was not kept: below is an example instead.');
  await expect(send(page)).toBeEnabled();
  await page.goto(`/capabilities/${CHAT}?tab=try&app=${app.id}&replay=${whole.callId}`);
  await expect(page.getByText('there is nothing to send again; below is an example.')).toBeVisible();
  await expect(body(page)).toHaveValue(/"demo"/);
});
