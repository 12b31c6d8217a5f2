import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { calls, openFailure, openLog, part, verdict } from './log';
import { CHAT, expect, test, type Administrator, type NewApplication } from './test';

const KEY = 'a-key-of-the-upstream';

/** Capabilities of a group of their own; nothing listens at their upstream unless one is given. */
async function group(administrator: Administrator, names: readonly string[], upstreamBaseUrl = 'http://127.0.0.1:9'): Promise<string[]> {
  const mark = randomUUID().slice(0, 8);
  await administrator.api('POST', '/api/admin/groups', { id: `g-${mark}`, name: `Group ${mark}`, sortOrder: 2000 });
  const ids = names.map((name) => `${name}-${mark}`);
  for (const id of ids)
    await administrator.api('POST', '/api/admin/capabilities', {
      id,
      name: id,
      groupId: `g-${mark}`,
      upstreamBaseUrl,
      upstreamKey: KEY,
      upstreamModel: 'm',
      defaultPath: '/v1/chat/completions',
    });
  return ids;
}

test('rule 9: a capability that an administrator disabled leads to the others of its group', async ({ page, developer, administrator }) => {
  const [off, other] = (await group(administrator, ['off', 'other'])) as [string, string];
  const app = await developer.createApplication('Search', [off, CHAT]);
  await administrator.api('PATCH', `/api/admin/capabilities/${off}/status`, { status: 'disabled' });
  await expect.poll(async () => (await developer.call(app.accessKey, { capability: off })).status, { message: 'the refusal' }).toBe(403);
  await openLog(page, app);
  await calls(page).first().click();
  await expect(verdict(page)).toContainText(`${off} was disabled by an administrator`);
  await expect(part(page, 'Failure detail')).toContainText('Permission denied');
  await expect(verdict(page).getByRole('link')).toHaveText([other]);
  await verdict(page).getByRole('link', { name: other }).click();
  await expect(page).toHaveURL(`/capabilities/${other}`);
});

test('rule 9: an upstream that cannot be reached is a connection failure', async ({ page, developer, administrator }) => {
  const [nowhere] = (await group(administrator, ['nowhere'])) as [string];
  const app = await developer.createApplication('Search', [nowhere]);
  await developer.call(app.accessKey, { capability: nowhere });
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText('The upstream could not be reached');
  await expect(part(page, 'Failure detail')).toContainText('Connection failed');
  await expect(verdict(page).getByRole('link', { name: `Try ${nowhere}` })).toHaveAttribute(
    'href',
    `/capabilities/${nowhere}?tab=try&app=${app.id}`,
  );
});

test('rule 9: an upstream that does not answer in time is a timeout', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  expect((await developer.call(app.accessKey, { query: { delay: '1m' } })).status).toBe(504); // product.ts sets the time
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText('The upstream took too long');
  await expect(part(page, 'Failure detail')).toContainText('Timeout');
  await expect(verdict(page).getByRole('link', { name: `Try ${CHAT}` })).toBeVisible();
});

test('rule 9: a call without a model says so and hands over an example that names one', async ({ page, developer, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { capability: null });
  await openFailure(page, developer, app);
  await expect(verdict(page)).toContainText('The query parameter model is missing, or there are several');
  await expect(part(page, 'Query')).toContainText('There was no query.');
  await verdict(page).getByRole('button', { name: 'Copy a correct example' }).click();
  await expect(verdict(page).getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/\/gateway\/\S+\?model=[\w-]+'/);
  expect(copied).not.toContain(app.accessKey);
});

test('rules 9 and 13: of an error that is no JSON only the status is told, a long message is cut, and nothing of the upstream is shown', async ({
  page,
  developer,
  administrator,
}) => {
  const server = createServer((request, response) => {
    response.statusCode = 503;
    if (request.url!.endsWith('/plain')) response.setHeader('Content-Type', 'text/html').end('<h1>Out of order</h1>');
    else
      response
        .setHeader('Content-Type', 'application/json')
        .end(
          JSON.stringify({ error: { message: `${request.headers.host} refused ${request.headers.authorization}: ${'m'.repeat(1500)}` } }),
        );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [broken] = (await group(administrator, ['broken'], `http://${host}/hidden-base`)) as [string];
    const message = page.locator('.verdict-message');
    const failed = async (path: string) => {
      const app = await developer.createApplication(path, [broken]);
      const { callId } = await developer.call(app.accessKey, { capability: broken, model: 'asked-for', path });
      await expect.poll(async () => (await developer.statistics(app.id)).summary.failures, { message: 'the failure is counted' }).toBe(1);
      await openLog(page, app);
      await calls(page).first().click();
      const detail = part(page, 'Failure detail');
      await expect(detail).toContainText(callId);
      await expect(verdict(page)).toContainText('The upstream answered 503');
      await expect(detail.locator('dd').filter({ hasText: /^POST / })).toHaveText(`POST ${path}`);
      await expect(part(page, 'Body').locator('pre')).toContainText('"model": "asked-for"');
      for (const secret of [KEY, host, 'hidden-base', 'Out of order']) expect(await page.content()).not.toContain(secret);
    };
    await failed('/plain');
    await expect(message).toHaveCount(0);
    await failed('/long');
    await expect(message).toHaveText(/^Error message: .*\[REDACTED\] refused .*\[REDACTED\]: m+$/);
    expect((await message.textContent())!.replace('Error message: ', '')).toHaveLength(1024);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

/** Begins a request whose body is longer than what is sent of it, and leaves. */
async function leaveWhileSending(base: string, { accessKey }: NewApplication): Promise<void> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = [
    `POST /gateway/v1/chat/completions?model=${CHAT} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${accessKey}`,
    'Content-Type: application/json',
    'Content-Length: 200000',
  ];
  await new Promise<void>((sent) => socket.write(`${head.join('\r\n')}\r\n\r\n{"model":"demo",`, () => sent()));
  socket.destroy();
}

const raw = async (base: string, app: NewApplication, type: string | null, body: string) => {
  await fetch(`${base}/gateway/v1/chat/completions?model=${CHAT}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${app.accessKey}`, ...(type === null ? {} : { 'Content-Type': type }) },
    body,
  });
};

const notes: [why: string, sentence: string, call: (base: string, app: NewApplication) => Promise<void>, verdict: string][] = [
  [
    'is larger than 16 KB',
    'The body exceeds 16 KB, so it is not stored.',
    (base, app) => raw(base, app, 'application/json', JSON.stringify({ model: 'demo-error-500', text: 'x'.repeat(17_000) })),
    'The upstream answered 500',
  ],
  ['is not there', 'The call had no body.', (base, app) => raw(base, app, null, ''), 'The upstream answered 400'],
  [
    'is not JSON',
    'The body is not JSON, so it is not stored.',
    (base, app) => raw(base, app, 'text/plain', 'Hello'),
    'The upstream answered 400',
  ],
  [
    'is invalid JSON',
    'The body is not valid JSON, so it is not stored.',
    (base, app) => raw(base, app, 'application/json', '{"model":'),
    'The upstream answered 400',
  ],
  ['was not fully read', 'The body was not fully read, so it is not stored.', leaveWhileSending, 'The caller left before the answer ended'],
];

for (const [why, sentence, call, says] of notes) {
  test(`rule 11: a body that ${why} has a sentence instead`, async ({ page, developer, baseURL }) => {
    const app = await developer.createApplication('Search');
    await call(baseURL!, app);
    await openFailure(page, developer, app);
    await expect(verdict(page)).toContainText(says);
    await expect(part(page, 'Body').locator('p')).toHaveText(sentence);
    await expect(part(page, 'Body').locator('pre')).toHaveCount(0);
  });
}

test('rule 11: a body whose time is over says how long it was kept', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  await developer.call(app.accessKey, { model: 'demo-error-500' });
  await page.route(/\/calls\/[0-9a-f-]+$/, async (route) => {
    const answer = await route.fetch();
    const json = (await answer.json()) as { data: { failure: Record<string, unknown> } };
    Object.assign(json.data.failure, { requestBody: null, query: null, bodyNote: 'expired' });
    await route.fulfill({ response: answer, json });
  });
  await openFailure(page, developer, app);
  const { failureRetentionDays } = await developer.api<{ failureRetentionDays: number }>('GET', '/api/config');
  await expect(part(page, 'Query').locator('p')).toHaveText(
    `The query has expired: failure details are kept ${failureRetentionDays} days.`,
  );
  await expect(part(page, 'Body').locator('p')).toHaveText(`The body has expired: failure details are kept ${failureRetentionDays} days.`);
});
