import type { components } from '../src/api/schema';
import { duration } from '../src/format/format';
import { addDays, dayOf } from '../src/range/days';
import { calls, figures, listed, openFailure, openLog, part, verdict } from './log';
import { held, settled, shape } from './shape';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, prefer, test } from './test';

const today = () => dayOf(Date.now());
const claudeCall = {
  capability: CLAUDE,
  path: '/v1/messages',
  body: { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
};

test('rules 6, 7 and 14: the drawer opens on today and all models, newest first, with the figures of the calls made', async ({
  page,
  developer,
}) => {
  const app = await developer.createApplication('Search');
  const made = [
    await developer.call(app.accessKey),
    await developer.call(app.accessKey, claudeCall),
    await developer.call(app.accessKey, { model: 'demo-error-429' }),
  ];
  await developer.counted(3);
  const asked = page.waitForRequest(/\/calls\?/);
  const drawer = await openLog(page, app);
  const search = new URL((await asked).url()).searchParams;
  expect([search.get('start'), search.get('end'), search.get('page'), search.has('model')]).toEqual([today(), today(), '1', false]);
  await expect(drawer.getByRole('button', { name: 'Today' })).toHaveAttribute('aria-pressed', 'true');
  await expect(drawer.getByLabel('Model')).toHaveValue('');
  await expect(figures(page)).toContainText(/Calls 3\s*Successes 2\s*Failures 1/);
  await expect(drawer.getByRole('columnheader')).toHaveText(['Flow no.', 'Beijing time', 'Model', 'Result', 'Status', 'Duration']);
  await expect(calls(page)).toHaveCount(3);
  const newest = [...made].reverse();
  const says: [string, string, string][] = [
    [CHAT, 'Failed', '429'],
    [CLAUDE, 'Success', '200'],
    [CHAT, 'Success', '200'],
  ];
  const { items } = await developer.api<components['schemas']['CallPage']>('GET', `/api/statistics/applications/${app.id}/calls`);
  for (const [n, [model, result, status]] of says.entries()) {
    const { startTime, durationMs } = items[n]!;
    expect(startTime).toMatch(/\+08:00$/);
    await expect(calls(page).nth(n).getByRole('cell')).toHaveText([
      newest[n]!.callId,
      startTime.slice(0, 19).replace('T', ' '),
      model,
      result,
      status,
      duration(durationMs, 'en'),
    ]);
  }
});

test('rule 14: each change of a filter asks page 1 at once; nothing of the drawer is in the URL', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 11);
  await developer.call(app.accessKey, claudeCall);
  await developer.counted(12);
  const path = `/applications/${app.id}?range=30d`;
  const drawer = await openLog(page, app, path);
  await expect(calls(page)).toHaveCount(10);
  const change = async (act: () => Promise<unknown>): Promise<Record<string, string>> => {
    await drawer.getByRole('button', { name: 'Next page' }).click();
    await expect(drawer.getByRole('button', { name: 'Page 2 of 2' })).toBeVisible();
    const asked = page.waitForRequest((request) => request.url().includes('/calls?') && !request.url().includes('page=2'));
    await act();
    return Object.fromEntries(new URL((await asked).url()).searchParams);
  };
  expect(await change(() => drawer.getByLabel('Model').selectOption(CHAT))).toEqual({
    start: today(),
    end: today(),
    model: CHAT,
    page: '1',
  });
  await expect(figures(page)).toContainText(/Calls 11\s*Successes 11\s*Failures 0/);
  await expect(page).toHaveURL(path);
  const yesterday = addDays(today(), -1);
  expect(await change(() => drawer.getByRole('button', { name: 'Yesterday' }).click())).toEqual({
    start: yesterday,
    end: yesterday,
    model: CHAT,
    page: '1',
  });
  await expect(drawer.getByText(`Nothing was recorded on ${yesterday}: records begin on ${today()}.`)).toBeVisible();
  await drawer.locator('.empty').getByRole('button', { name: 'All models' }).click();
  await drawer.getByRole('button', { name: 'Today' }).click();
  await expect(figures(page)).toContainText('Calls 12');
  const day = addDays(today(), -2);
  const pick = async () => {
    await drawer.getByRole('button', { name: 'Date' }).click();
    const popup = page.locator('.ant-picker-dropdown');
    await expect(popup).toBeVisible();
    await expect(popup).not.toHaveClass(/ant-slide-up/); // a click while it unfolds may miss
    if (!(await popup.locator(`td.ant-picker-cell-in-view[title="${day}"]`).count()))
      await popup.locator('.ant-picker-header-prev-btn').click();
    await popup.locator(`td.ant-picker-cell-in-view[title="${day}"]`).click();
  };
  expect(await change(pick)).toEqual({ start: day, end: day, page: '1' });
  await expect(page).toHaveURL(path);
});

test('rule 14: Back and Escape close the drawer, the page behind keeps its range, and a reload starts closed', async ({
  page,
  developer,
}) => {
  const app = await developer.createApplication('Search');
  const path = `/applications/${app.id}?range=30d`;
  const drawer = await openLog(page, app, path);
  await page.goBack();
  await expect(drawer).toBeHidden();
  await expect(page).toHaveURL(path);
  const button = page.getByRole('button', { name: /^Call log/ }).first();
  await expect(button).toBeFocused();
  for (const leave of [() => page.keyboard.press('Escape'), () => drawer.getByRole('button', { name: 'Close' }).click()]) {
    await button.press('Enter');
    await expect(drawer).toBeVisible();
    await leave();
    await expect(drawer).toBeHidden();
    await expect(button).toBeFocused();
  }
  await button.click();
  await expect(drawer).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Search', level: 1 })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(path);
});

test('Back closes the drawer even before its entry in the history was drawn', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const button = page.getByRole('button', { name: /^Call log/ }).first();
  const drawer = page.getByRole('dialog', { name: 'Call log of Search' });
  await page.goto(`/applications/${app.id}`);
  const gone = page.evaluate(() =>
    new Promise((resolve) => {
      const push = history.pushState;
      history.pushState = (...entry) => {
        history.pushState = push;
        history.pushState(...entry);
        history.back();
      };
      window.addEventListener('popstate', resolve, { once: true });
    }).then(() => 'back'),
  );
  await button.click();
  expect(await gone).toBe('back');
  await expect(drawer).toBeHidden();
  await expect(page).toHaveURL(`/applications/${app.id}`);
  await button.click();
  await expect(drawer).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(drawer).toBeHidden();
  await expect(page).toHaveURL(`/applications/${app.id}`);
});

test('Escape is heard before the drawer has the focus, and before its code is there', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const button = page.getByRole('button', { name: /^Call log/ }).first();
  const drawer = page.getByRole('dialog', { name: 'Call log of Search' });
  await page.goto(`/applications/${app.id}`);
  await expect(button).toBeVisible();
  const arrive = await held(page, /\/CallDrawer-[^/]+\.js$/);
  const asked = page.waitForRequest(/\/CallDrawer-[^/]+\.js$/);
  await button.click();
  const code = await asked;
  await page.keyboard.press('Escape');
  arrive();
  // The drawer would open as soon as its code and styles are there.
  await page.evaluate(async (url) => {
    await import(url);
    await Promise.all(
      [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].map(
        (link) => link.sheet ?? new Promise((loaded) => link.addEventListener('load', loaded)),
      ),
    );
    await new Promise((later) => setTimeout(later, 300));
  }, code.url());
  await expect(drawer).toHaveCount(0, { timeout: 1 });
  await button.click();
  await expect(drawer).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(drawer).toBeHidden();
  await page.reload();
  await expect(button).toBeVisible();
  await page.evaluate(() => {
    const early = new MutationObserver(() => {
      if (!document.querySelector('[role=dialog]')) return;
      early.disconnect();
      document.body.dataset['escaped'] = 'true';
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    });
    early.observe(document.body, { childList: true, subtree: true });
  });
  await button.click();
  await expect(page.locator('body')).toHaveAttribute('data-escaped', 'true');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(button).toBeFocused();
  expect(await page.evaluate(() => (history.state as { usr?: unknown }).usr ?? null)).toBeNull(); // no entry is left behind
});

test('rule 8: a model that was unbound stays selectable, and so do calls without one', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 2);
  await developer.call(app.accessKey, claudeCall);
  await developer.call(app.accessKey, { capability: null });
  await developer.api('PATCH', `/api/applications/${app.id}`, { capabilityIds: [CHAT] });
  await developer.counted(4);
  const drawer = await openLog(page, app);
  const model = drawer.getByLabel('Model');
  await expect
    .poll(async () => (await model.locator('option').allTextContents()).sort())
    .toEqual(['All models', CHAT, CLAUDE, 'unspecified'].sort());
  await model.selectOption(CLAUDE);
  await expect(figures(page)).toContainText(/Calls 1\s*Successes 1\s*Failures 0/);
  await expect(calls(page)).toHaveCount(1);
  await model.selectOption('unspecified');
  await expect(figures(page)).toContainText(/Calls 1\s*Successes 0\s*Failures 1/);
  await expect(calls(page).getByRole('cell').nth(4)).toHaveText('400');
});

test('today is live: a call made now appears by itself, and holds back while the list is read', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const drawer = await openLog(page, app);
  await expect(drawer.getByText(`There were no calls on ${today()}.`)).toBeVisible();
  await expect(drawer.getByText('Live', { exact: true })).toBeVisible();
  await developer.call(app.accessKey);
  await expect(calls(page)).toHaveCount(1, { timeout: 20_000 });
  await calls(page).first().click();
  await expect(drawer.getByText('First byte', { exact: true })).toBeVisible();
  await developer.calls(app.accessKey, 2);
  await expect(drawer.getByRole('button', { name: '2 new calls ↑' })).toBeVisible({ timeout: 20_000 });
  await expect(calls(page)).toHaveCount(1);
  await drawer.getByRole('button', { name: '2 new calls ↑' }).click();
  await expect(calls(page)).toHaveCount(3);
  await drawer.getByRole('button', { name: 'Yesterday' }).click();
  await expect(drawer.getByText('Live', { exact: true })).toBeHidden();
});

test('only failures: rows and pages are those of failures, and D and E go through them over pages', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 1);
  const made: string[] = [];
  for (let n = 0; n < 11; n++) made.push((await developer.call(app.accessKey, { model: 'demo-error-500' })).callId);
  await developer.counted(12);
  const failed = await listed(developer, app, made, 'failure');
  const drawer = await openLog(page, app);
  await drawer.getByRole('button', { name: /^Failures/ }).click();
  await expect(drawer.getByRole('button', { name: 'Page 1 of 2' })).toBeVisible();
  await expect(figures(page)).toContainText(/Calls 12\s*Successes 1\s*Failures 11/);
  await expect(calls(page).locator('bdi')).toHaveText(failed.slice(0, 10));
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  const id = drawer.locator('.failure dd.mono').first();
  await expect(id).toContainText(failed[0]!);
  for (let n = 1; n < 11; n++) {
    await page.keyboard.press('d');
    await expect(id).toContainText(failed[n]!);
  }
  await page.keyboard.press('e');
  await expect(id).toContainText(failed[9]!);
  await page.keyboard.press('Escape');
  await expect(calls(page).locator('bdi')).toHaveText(failed.slice(0, 10));
  await expect(drawer).toBeVisible();
});

test('rules 9 and 13: a failure says the upstream status and JSON error, and shows the body and query that were sent', async ({
  page,
  developer,
  context,
  baseURL,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey, { model: 'demo-error-429', query: { tag: 'night' } });
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText('The upstream answered 429');
  const detail = page.getByRole('region', { name: 'Failure detail' });
  await expect(detail).toContainText(callId);
  await expect(detail).toContainText('Upstream HTTP error');
  await expect(detail).toContainText('This model always answers 429.');
  await expect(detail).toContainText('POST /v1/chat/completions');
  expect(JSON.parse((await part(page, 'Query').locator('pre').textContent())!)).toEqual({ model: CHAT, tag: 'night' });
  expect(JSON.parse((await part(page, 'Body').locator('pre').textContent())!)).toEqual({
    model: 'demo-error-429',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  await detail.getByRole('button', { name: 'Copy as curl' }).click();
  await expect(detail.getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`/gateway/v1/chat/completions?model=${CHAT}&tag=night'`);
  expect(copied).toContain('Bearer $CALLGATE_KEY');
  expect(copied).not.toContain(app.accessKey);
  expect(await page.content()).not.toContain(app.accessKey);
  void baseURL;
  await detail.getByRole('link', { name: `Try ${CHAT}` }).click();
  await expect(page).toHaveURL(`/capabilities/${CHAT}?tab=try&app=${app.id}`);
});

test('rule 9: not bound is bound by one click, and the next call succeeds', async ({ page, developer }) => {
  const app = await developer.createApplication('Search', [CLAUDE]);
  await developer.call(app.accessKey);
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText(`The application has no access to ${CHAT}`);
  await expect(page.getByRole('region', { name: 'Failure detail' })).toContainText('Permission denied');
  await verdict(page)
    .getByRole('button', { name: `Grant access to ${CHAT}` })
    .click();
  await expect(verdict(page)).toContainText(`Access to ${CHAT} is granted ✓`);
  await expect.poll(async () => (await developer.call(app.accessKey)).status).toBe(200);
});

test('rule 9: a disabled application is enabled by one click, and the next call succeeds', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.api('PATCH', `/api/applications/${app.id}/status`, { status: 'disabled' });
  await developer.call(app.accessKey);
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText('The application is disabled');
  await verdict(page).getByRole('button', { name: 'Enable the application' }).click();
  await expect(verdict(page)).toContainText('The application is enabled ✓');
  await expect.poll(async () => (await developer.call(app.accessKey)).status).toBe(200);
});

test('rule 9: a capability that does not exist leads to the closest one', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { capability: 'demo-caht' });
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText('There is no capability demo-caht');
  await verdict(page).getByRole('link', { name: CHAT }).click();
  await expect(page).toHaveURL(`/capabilities/${CHAT}`);
});

test('rule 9: a broken answer is 499, interrupted, and says by whom', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { model: 'demo-cut' });
  await developer.counted(1);
  await openLog(page, app);
  await expect(calls(page).getByRole('cell').nth(3)).toHaveText('Interrupted');
  await expect(calls(page).getByRole('cell').nth(4)).toHaveText('499');
  await calls(page).first().click();
  await expect(verdict(page)).toContainText('The upstream broke off before the answer ended');
});

test('rule 12: credentials are redacted wherever they stand; strings, arrays and depth are bounded, and long bodies folded', async ({
  page,
  developer,
}) => {
  const app = await developer.createApplication('Search');
  const secret = 'sk-abcdefghijklmnopqrstuvwxyz012345';
  const numbers = (n: number) => Array.from({ length: n }, (_, at) => at);
  const nest = (levels: number, core: unknown): unknown => (levels === 0 ? core : { in: nest(levels - 1, core) });
  await developer.call(app.accessKey, {
    query: { api_key: 'hunter2hunter2', tag: `a ${secret}`, long: 'q'.repeat(600) },
    body: {
      model: 'demo-error-500',
      nested: { password: 'hunter2hunter2', list: [{ Authorization: 'hunter2hunter2' }] },
      note: `key ${secret} end`,
      list: numbers(60),
      text: 'x'.repeat(1100),
      deep: nest(10, 'core'),
    },
  });
  await openFailure(page, developer, app);
  const body = part(page, 'Body');
  await expect(body.locator('pre')).toContainText('"password": "[REDACTED]"');
  expect((await body.locator('pre').textContent())!.trim().split('\n')).toHaveLength(40);
  await body.getByRole('button', { name: /^Show all \d+ lines$/ }).click();
  await expect(body.getByRole('button', { name: 'Fold' })).toBeVisible();
  expect(JSON.parse((await body.locator('pre').textContent())!)).toEqual({
    model: 'demo-error-500',
    nested: { password: '[REDACTED]', list: [{ Authorization: '[REDACTED]' }] },
    note: 'key [REDACTED] end',
    list: [...numbers(50), '…(+10)'],
    text: `${'x'.repeat(1024)}…(+76)`,
    deep: nest(7, '…'),
  });
  expect(JSON.parse((await part(page, 'Query').locator('pre').textContent())!)).toEqual({
    model: CHAT,
    api_key: '[REDACTED]',
    tag: 'a [REDACTED]',
    long: `${'q'.repeat(512)}…(+88)`,
  });
  const whole = await page.content();
  for (const leak of [secret, 'hunter2hunter2']) expect(whole).not.toContain(leak);
});

test('rule 9: numbers of the body keep every digit that was sent', async ({ page, developer, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const app = await developer.createApplication('Search');
  const digits = ['9007199254740993', '-12345678901234567890', '1.10', '0.1234567890123456789'];
  await developer.call(app.accessKey, {
    body: Buffer.from(`{"model":"demo-error-500","ids":[${digits.join(',')}]}`),
    type: 'application/json',
  });
  await openFailure(page, developer, app);
  const detail = part(page, 'Failure detail');
  await expect(part(page, 'Body').locator('pre')).toHaveText(
    `{\n  "model": "demo-error-500",\n  "ids": [\n${digits.map((one) => `    ${one}`).join(',\n')}\n  ]\n}`,
  );
  await detail.getByRole('button', { name: 'Copy as curl' }).click();
  await expect(detail.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    `-d '{"model":"demo-error-500","ids":[${digits.join(',')}]}'`,
  );
});

test('rule 10: a call from before the collection says that it was not collected', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { model: 'demo-error-500' });
  await developer.counted(1);
  await page.route(/\/calls\/[0-9a-f-]+$/, async (route) => {
    const answer = await route.fetch();
    const json = (await answer.json()) as { data: Record<string, unknown> };
    json.data['failure'] = { collected: false, reason: null, request: null, requestBody: null, query: null, bodyNote: null };
    await route.fulfill({ response: answer, json });
  });
  await openLog(page, app);
  await calls(page).first().click();
  await expect(page.getByText('Not collected: this call was made before failure details were kept.')).toBeVisible();
});

test('the download has the same calls as the list', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey, { model: 'demo-error-500' });
  await developer.call(app.accessKey);
  await developer.counted(2);
  const drawer = await openLog(page, app);
  await drawer.getByRole('button', { name: /^Failures/ }).click();
  await expect(calls(page)).toHaveCount(1);
  const csv = await (await page.request.get((await drawer.getByRole('link', { name: 'Download CSV' }).getAttribute('href'))!)).text();
  expect(csv.trim().split('\n')).toHaveLength(2);
  expect(csv).toContain(callId);
});

test('the list has its shape before the calls are there, so that nothing jumps', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 10);
  await developer.counted(10);
  const arrive = await held(page, /\/calls\?/);
  const drawer = await openLog(page, app);
  await expect(drawer.getByRole('status', { name: 'Loading' })).toBeVisible();
  await settled(page);
  const before = await shape(drawer.locator('.calls-table'));
  arrive();
  await expect(calls(page)).toHaveCount(10);
  expect(await shape(drawer.locator('.calls-table'))).toEqual(before);
});

test('list and failure are accessible in both themes and languages, and fit a phone', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 2);
  await developer.call(app.accessKey, { model: 'demo-error-429' });
  await developer.counted(3);
  for (const [language, theme, button, width] of [
    ['en', 'light', /^Call log/, 1440],
    ['zh-CN', 'dark', /^调用记录/, 390],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await prefer(page, language, theme);
    await page.goto(`/applications/${app.id}`);
    await page.getByRole('button', { name: button }).first().click();
    await expect(calls(page)).toHaveCount(3);
    await calls(page).nth(1).locator('.call-id').click();
    await expect(page.locator('.call-more')).toBeVisible();
    await expectAccessible(page, '[role=dialog]');
    await calls(page).first().locator('.call-id').click();
    await expect(verdict(page)).toBeVisible();
    await expectAccessible(page, '[role=dialog]');
    await expectNoSidewaysScroll(page);
  }
});
