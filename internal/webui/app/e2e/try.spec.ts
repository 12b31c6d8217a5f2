import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { dayOf } from '../src/range/days';
import { CHAT, CLAUDE, expect, test, type Developer } from './test';

const run = promisify(execFile);
const answer = (page: Page) => page.getByRole('region', { name: 'Response' });
const figure = (page: Page, name: string) => answer(page).locator('dt', { hasText: name }).locator('+ dd');
const body = (page: Page) => page.getByLabel('Body (JSON)');
const send = (page: Page) => page.getByRole('button', { name: 'Send' }).click();
const open = (page: Page, application: { id: string }, capability = CHAT) =>
  page.goto(`/capabilities/${capability}?tab=try&app=${application.id}`);

/** The newest recorded call of an application. */
async function recorded(developer: Developer, id: string) {
  const today = dayOf(Date.now());
  let call: components['schemas']['Call'] | undefined;
  await expect
    .poll(
      async () =>
        (call = (
          await developer.api<components['schemas']['CallPage']>(
            'GET',
            `/api/statistics/applications/${id}/calls?start=${today}&end=${today}`,
          )
        ).items[0]),
      { timeout: 15_000 },
    )
    .toBeTruthy();
  return call!;
}

test('the request is built from model and path, and a streamed answer is joined', async ({ page, developer }) => {
  const application = await developer.createApplication('Search');
  await open(page, application);
  await expect(page.getByLabel('Path')).toHaveValue('/v1/chat/completions');
  expect(JSON.parse(await body(page).inputValue())).toEqual({
    model: 'demo',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
  });
  await body(page).focus();
  await page.keyboard.press('Control+Enter');
  await expect(answer(page).locator('pre')).toHaveText('You said: Hello');
  await expect(figure(page, 'Status')).toHaveText('200');
  await expect(figure(page, 'First byte')).toHaveText(/^\d+ ms$|^\d\.\d\d s$/);
  await expect(figure(page, 'Total')).toHaveText(/^\d+ ms$|^\d\.\d\d s$/);
  await answer(page).getByRole('button', { name: 'Raw' }).click();
  await expect(answer(page).locator('pre')).toContainText('data: [DONE]');
  await answer(page).getByRole('button', { name: 'Headers' }).click();
  await expect(answer(page).locator('pre')).toContainText(/x-call-id: .+/);
  const call = await recorded(developer, application.id);
  expect(call).toMatchObject({ success: true, statusCode: 200, streamed: true, model: CHAT });
  await expect(figure(page, 'Call id')).toHaveText(call.callId);
  await developer.counted(1);
});

test('the call id leads to the call in the log of its application, and a reload starts closed', async ({ page, developer }) => {
  const application = await developer.createApplication('Search');
  await open(page, application);
  await send(page);
  await expect(answer(page).locator('pre')).toHaveText('You said: Hello');
  const callId = (await figure(page, 'Call id').textContent())!;
  await figure(page, 'Call id').getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Call log of Search' });
  await expect(drawer.locator('.calls-table tr.call')).toHaveCount(1, { timeout: 20_000 });
  await expect(drawer.locator('.calls-table tr.call')).toContainText(callId);
  await expect(page).toHaveURL(`/applications/${application.id}`);
  await page.keyboard.press('Escape');
  await expect(drawer).toBeHidden();
  await expect(page).toHaveURL(`/applications/${application.id}`);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Search', level: 1 })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goBack();
  await expect(page).toHaveURL(/tab=try/);
});

test('the call id of a failure leads to why it failed', async ({ page, developer, expected }) => {
  expected.push(/gateway.* 429 /);
  const application = await developer.createApplication('Search');
  await open(page, application);
  await body(page).fill('{"model":"demo-error-429"}');
  await send(page);
  await expect(figure(page, 'Status')).toHaveText('429');
  const callId = (await figure(page, 'Call id').textContent())!;
  const asked: number[] = [];
  await page.route(/\/calls\?/, async (route) => {
    // it is not counted yet at first
    const response = await route.fetch();
    const json = (await response.json()) as { data: { items: object[] } };
    if (asked.push(Date.now()) === 1) json.data.items = [];
    await route.fulfill({ response, json });
  });
  await figure(page, 'Call id').getByRole('link').click();
  const detail = page.getByRole('region', { name: 'Failure detail' });
  await expect(detail).toContainText('The upstream answered 429', { timeout: 20_000 });
  await expect(detail).toContainText(callId);
  expect(asked[1]! - asked[0]!).toBeLessThan(2000); // who waits for this call need not wait for the live log's 3 s
  await page.keyboard.press('Escape');
  await expect(detail).toHaveCount(0);
  await expect(page.locator('.calls-table tr.call')).toHaveCount(1);
});

test('a whole answer of either provider is shown as its text', async ({ page, developer }) => {
  const application = await developer.createApplication('Search');
  await open(page, application, CLAUDE);
  await send(page);
  await expect(answer(page).locator('pre')).toHaveText('You said: Hello');
  await page.getByLabel('Stream').uncheck();
  expect(JSON.parse(await body(page).inputValue())).not.toHaveProperty('stream');
  await body(page).fill((await body(page).inputValue()).replace('Hello', 'Once more'));
  await send(page);
  await expect(answer(page).locator('pre')).toHaveText('You said: Once more');
});

test('the key is fetched at Send and stands nowhere on the page', async ({ page, developer }) => {
  const application = await developer.createApplication('Search');
  const reveals: string[] = [];
  page.on('request', (request) => void (request.url().endsWith('/access-key') && reveals.push(request.url())));
  await open(page, application);
  await expect(page.getByRole('button', { name: 'Send' })).toBeEnabled();
  expect(reveals).toEqual([]);
  await send(page);
  await expect(answer(page).locator('pre')).toHaveText('You said: Hello');
  expect(reveals).toHaveLength(1);
  const secret = application.accessKey.slice(4);
  for (const view of ['Raw', 'Headers']) {
    await answer(page).getByRole('button', { name: view }).click();
    expect(await page.content()).not.toContain(secret);
  }
  expect(
    await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])),
  ).not.toContain(secret);
});

test('an error of the upstream is told from one of the gateway', async ({ page, developer, expected }) => {
  expected.push(/gateway.* (429|400) /);
  const application = await developer.createApplication('Search');
  await open(page, application);
  await body(page).fill('{"model":"demo-error-429"}');
  await send(page);
  await expect(figure(page, 'Status')).toHaveText('429');
  await expect(answer(page)).toContainText('This error comes from the upstream.');
  await expect(answer(page).locator('pre')).toContainText('This model always answers 429.');
  await page.getByLabel('Path').fill('/v1/%5cevil');
  await send(page);
  await expect(figure(page, 'Status')).toHaveText('400');
  await expect(answer(page)).toContainText('The path has a character or dot segment that is not allowed.');
});

test('an upstream’s 401 says that the platform’s key was refused and whom to tell, not that the own key is wrong', async ({
  page,
  developer,
  administrator,
  expected,
}) => {
  expected.push(/gateway.* 401 /);
  const server = createServer(
    (_request, response) =>
      void response
        .writeHead(401, { 'Content-Type': 'application/json' })
        .end('{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}'),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const id = `refused-${Date.now()}`;
    const group = await administrator.api<{ id: string }>('POST', '/api/admin/groups', { name: `Refused ${id}`, sortOrder: 5000 });
    await administrator.api('POST', '/api/admin/capabilities', {
      id,
      name: id,
      groupId: group.id,
      upstreamBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      upstreamKey: 'the-upstream-key',
      upstreamModel: 'm',
      defaultPath: '/v1/chat/completions',
    });
    const application = await developer.createApplication('Search', [id]);
    await expect
      .poll(async () => (await developer.call(application.accessKey, { capability: id })).status, { timeout: 15_000, intervals: [50] })
      .toBe(401);
    await open(page, application, id);
    await send(page);
    await expect(figure(page, 'Status')).toHaveText('401');
    await expect(answer(page)).toContainText(
      'The upstream refused the platform’s key (401). Your Access Key is fine: tell your administrator',
    );
    await expect(answer(page)).not.toContainText('was just replaced');
    await page.route('**/access-key', (route) =>
      route.fulfill({ json: { code: 0, msg: 'ok', data: { accessKey: `cg-${'x'.repeat(40)}` } } }),
    );
    await send(page);
    await expect(answer(page)).toContainText('The Access Key was just replaced or the application deleted.');
  } finally {
    server.close();
  }
});

test('a broken answer keeps what came and says that it is recorded as 499', async ({ page, developer, expected }) => {
  expected.push(/ERR_/);
  const application = await developer.createApplication('Search');
  await open(page, application);
  await body(page).fill('{"model":"demo-cut","stream":true,"messages":[{"role":"user","content":"Hello"}]}');
  await send(page);
  await expect(answer(page)).toContainText('The response did not end: the connection broke (recorded as 499).');
  expect(await recorded(developer, application.id)).toMatchObject({ success: false, statusCode: 499 });
});

test('Stop ends the call, which is recorded as left by the caller', async ({ page, developer }) => {
  const application = await developer.createApplication('Search');
  await open(page, application);
  await page.getByLabel('Path').fill('/v1/chat/completions?gap=1s');
  await send(page);
  await expect(figure(page, 'Status')).toHaveText('200');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(answer(page)).toContainText('Stopped; the call is recorded as 499.');
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
  expect(await recorded(developer, application.id)).toMatchObject({ success: false, statusCode: 499, endedBy: 'client_abort' });
});

test('an unbound or disabled application is bound or enabled in place', async ({ page, developer }) => {
  const application = await developer.createApplication('Search', []);
  await developer.api('PATCH', `/api/applications/${application.id}/status`, { status: 'disabled' });
  await open(page, application);
  await expect(page.getByText('Search has no access to this capability yet.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Send' })).toBeDisabled();
  await page.getByRole('button', { name: 'Grant access' }).click();
  await expect(page.getByText('Search is disabled; calls are refused.')).toBeVisible();
  await page.getByRole('button', { name: 'Enable' }).click();
  await expect(page.getByText('Search is disabled; calls are refused.')).toHaveCount(0);
  await expect.poll(async () => (await developer.call(application.accessKey)).status, { timeout: 10_000, intervals: [50] }).toBe(200);
  await send(page);
  await expect(answer(page).locator('pre')).toHaveText('You said: Hello');
});

test('a bound application is chosen first, and another choice stands in the URL', async ({ page, developer }) => {
  const bound = await developer.createApplication('Bound', [CHAT]);
  const other = await developer.createApplication('Other', []);
  await page.goto(`/capabilities/${CHAT}?tab=try`);
  await expect(page.getByRole('combobox', { name: 'Application' })).toHaveValue(bound.id);
  await page.getByRole('combobox', { name: 'Application' }).selectOption({ label: 'Other' });
  await expect(page).toHaveURL(`/capabilities/${CHAT}?tab=try&app=${other.id}`);
  await page.reload();
  await expect(page.getByRole('combobox', { name: 'Application' })).toHaveValue(other.id);
});

test('what is no JSON is not sent, and Reset brings the first request back', async ({ page, developer }) => {
  const application = await developer.createApplication('Search');
  await open(page, application);
  const first = await body(page).inputValue();
  await body(page).fill('{');
  await expect(page.getByText('This is not valid JSON and cannot be sent.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Send' })).toBeDisabled();
  await page.getByRole('button', { name: 'Reset' }).click();
  await expect(body(page)).toHaveValue(first);
});

for (const width of [1440, 390])
  test(`typing a request moves nothing at ${width} px`, async ({ page, developer }) => {
    await page.setViewportSize({ width, height: 900 });
    await open(page, await developer.createApplication('Search'));
    const before = (await body(page).boundingBox())!;
    await body(page).fill('{}');
    await expect(page.getByRole('button', { name: 'Reset' })).toBeVisible();
    expect(await body(page).boundingBox()).toEqual(before);
  });

/** Lets the server tell other addresses than its own. */
async function told(page: Page, addresses: { publicBaseUrl?: string; publicGatewayUrl: string }): Promise<void> {
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { data: object };
    await route.fulfill({ response, json: { ...json, data: { ...json.data, ...addresses } } });
  });
}

test('where this page is not at the public address only the samples are shown', async ({ page, developer }) => {
  await developer.createApplication('Search');
  await told(page, { publicBaseUrl: 'https://gate.example', publicGatewayUrl: 'https://gate.example' });
  await page.goto(`/capabilities/${CHAT}?tab=try`);
  await expect(page.getByText('The gateway is at another address (https://gate.example)')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Send' })).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Code' })).toContainText('https://gate.example/gateway/v1/chat/completions');
});

test('where the gateway has a host of its own the samples name it, and the page still sends', async ({ page, developer }) => {
  await developer.createApplication('Search');
  await told(page, { publicGatewayUrl: 'https://gate.example' });
  await page.goto(`/capabilities/${CHAT}?tab=try`);
  await expect(page.getByRole('region', { name: 'Code' })).toContainText('https://gate.example/gateway/v1/chat/completions');
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
});

test('each sample runs as it is copied and gets the answer', async ({ page, developer }) => {
  test.setTimeout(180_000);
  const application = await developer.createApplication('Search');
  await open(page, application);
  await body(page).fill(`{"model":"demo","messages":[{"role":"user","content":"It's \\"fine\\" $HOME \\u4f60"}],"stream":false}`);
  const code = page.getByRole('region', { name: 'Code' });
  const dir = await mkdtemp(join(tmpdir(), 'callgate-sample-'));
  try {
    const programs = [
      ['curl', 'sh', ['a.sh'], 'a.sh'],
      ['Python', 'python3', ['a.py'], 'a.py'],
      ['JavaScript', process.execPath, ['a.mjs'], 'a.mjs'],
      ['Go', 'go', ['run', 'a.go'], 'a.go'],
    ] as const;
    for (const [language, program, args, file] of programs) {
      await code.getByRole('button', { name: language, exact: true }).click();
      await writeFile(join(dir, file), (await code.locator('pre').textContent()) ?? '');
      const { stdout } = await run(program, args, { cwd: dir, env: { ...process.env, CALLGATE_KEY: application.accessKey } });
      expect(stdout, language).toContain(`You said: It's \\"fine\\" $HOME 你`);
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  await developer.counted(4);
});
