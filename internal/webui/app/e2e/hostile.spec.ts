import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { chromium } from '@playwright/test';
import { certificate } from './certificate';
import { entire } from './chromium';
import { expect, test, type Administrator } from './test';

// The gateway may share the console's origin: whatever an upstream answers must do nothing to it.

const served: Server[] = [];
test.afterAll(() => served.forEach((server) => void (server.closeAllConnections(), server.close())));

async function listening(server: Server): Promise<number> {
  served.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function capabilityOf(administrator: Administrator, answer: RequestListener): Promise<string> {
  const id = `hostile-${randomUUID().slice(0, 8)}`;
  const upstreamBaseUrl = `http://127.0.0.1:${await listening(createServer(answer))}`;
  await administrator.api('POST', '/api/admin/groups', { id: `g-${id}`, name: `Group ${id}`, sortOrder: 3000 });
  await administrator.api('POST', '/api/admin/capabilities', {
    id,
    name: id,
    groupId: `g-${id}`,
    upstreamBaseUrl,
    upstreamKey: 'a-key',
    upstreamModel: 'm',
    defaultPath: '/v1',
  });
  return id;
}

const inside = async (of: IncomingMessage) => Buffer.concat((await of.toArray()) as Buffer[]).toString();

/** What makes a browser tell a collector of every request to the origin that sends it. */
const enrols = (collector: string) => ({
  'Report-To': JSON.stringify({ group: 'g', max_age: 3600, endpoints: [{ url: collector }] }),
  NEL: JSON.stringify({ report_to: 'g', max_age: 3600, success_fraction: 1, failure_fraction: 1 }),
  'Reporting-Endpoints': `g="${collector}"`,
});

test('an answer of an upstream enrols no collector of reports about the console', async ({
  developer,
  administrator,
  baseURL,
  launchOptions,
}) => {
  const { cert, key, hash } = certificate();
  const reports: string[] = [];
  const collectorPort = await listening(
    createSecureServer({ cert, key }, async (asked, answer) => {
      answer.setHeaders(
        new Map([
          ['Access-Control-Allow-Origin', '*'],
          ['Access-Control-Allow-Headers', '*'],
          ['Access-Control-Allow-Methods', '*'],
        ]),
      );
      if (asked.method === 'POST') reports.push(await inside(asked));
      answer.writeHead(204).end();
    }),
  );
  const collector = `https://collector.test:${collectorPort}/reports`;
  const capability = await capabilityOf(administrator, (_, answer) =>
    answer.writeHead(200, { ...enrols(collector), 'Content-Type': 'application/json' }).end('{}'),
  );
  const app = await developer.createApplication('Hostile', [capability]);
  // Reports are of HTTPS origins only. The control shows that the collector would have been told.
  const front = await listening(
    createSecureServer({ cert, key }, (asked, answer) => {
      if (asked.headers.host?.startsWith('control.test')) return void answer.writeHead(200, enrols(collector)).end('control');
      asked.pipe(
        request(`${baseURL}${asked.url}`, { method: asked.method!, headers: asked.headers }, (got) => {
          answer.writeHead(got.statusCode!, got.headers);
          got.pipe(answer);
        }),
      );
    }),
  );
  const browser = await chromium.launch({
    ...launchOptions,
    ...entire,
    args: [
      ...(launchOptions.args ?? []),
      '--short-reporting-delay',
      `--ignore-certificate-errors-spki-list=${hash}`,
      '--host-resolver-rules=MAP *.test 127.0.0.1',
    ],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`https://callgate.test:${front}/docs`);
    const status = await page.evaluate(
      async ([model, accessKey]) =>
        (await fetch(`/gateway/v1?model=${model}`, { headers: { Authorization: `Bearer ${accessKey}` } })).status,
      [capability, app.accessKey],
    );
    expect(status).toBe(200);
    await page.goto(`https://callgate.test:${front}/docs?of-the-console`);
    await page.goto(`https://control.test:${front}/first`);
    await page.goto(`https://control.test:${front}/second`);
    await expect.poll(() => reports.join(), { message: 'the collector is told of the control', timeout: 30_000 }).toContain('control.test');
    expect(reports.filter((report) => report.includes('callgate.test'))).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('a page that an upstream answered and the browser kept does not run as the console', async ({
  page,
  developer,
  administrator,
  expected,
}) => {
  expected.push(/gateway\/page|favicon/); // the refusal, and a browser's habit
  const script = `fetch('/api/auth/token', { method: 'POST' }).then((r) => r.json()).then((a) => { document.title = 'stolen ' + a.data.token; })`;
  const capability = await capabilityOf(administrator, (_, answer) =>
    answer
      .writeHead(200, { 'Content-Type': 'text/html', 'Cache-Control': 'public, max-age=3600' })
      .end(`<!doctype html><title>kept</title><h1>A page</h1><script>${script}</script>`),
  );
  const app = await developer.createApplication('Hostile', [capability]);
  const address = `/gateway/page?model=${capability}`;
  await page.goto('/docs');
  const text = await page.evaluate(
    async ([url, accessKey]) => (await fetch(url!, { headers: { Authorization: `Bearer ${accessKey}` } })).text(),
    [address, app.accessKey],
  );
  expect(text).toContain('A page');
  const opened = await page.goto(address);
  await page.waitForLoadState('networkidle');
  expect(await page.title()).not.toContain('stolen');
  expect(opened!.status()).toBe(400);
  expect(opened!.headers()['x-callgate-error']).toBe('invalid_request');
});
