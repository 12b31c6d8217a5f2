import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIRequestContext } from '@playwright/test';
import type { components } from '../src/api/schema';
import { addDays, dayOf } from '../src/range/days';
import { Developer, type Administrator, type NewApplication } from './test';

type Schemas = components['schemas'];
const today = () => dayOf(Date.now());

interface Provider {
  url: string;
  close: () => void;
}

/** An upstream that answers 503 when the model of the body is "fails", else 200 with what it used. */
export async function upstream(): Promise<Provider> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        response.setHeader('Content-Type', 'application/json');
        if (Buffer.concat(parts).includes('"fails"')) response.writeHead(503).end('{"error":{"message":"no capacity"}}');
        else response.end('{"model":"m","choices":[{"message":{"content":"fine"}}],"usage":{"prompt_tokens":100,"completion_tokens":20}}');
      });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

export interface Place {
  id: string;
  name: string;
  app: NewApplication;
  other: NewApplication;
  eve: Developer;
}

/**
 * A capability of its own: of Ada's application `failures` calls fail and two do not, one of Eve's does, and Ada's second
 * application is refused `refused` times. More fail than in any other test, so that nothing of this is among the rest.
 */
export async function withFailures(
  administrator: Administrator,
  ada: Developer,
  { url, stranger }: Provider & { stranger: () => Promise<APIRequestContext> },
  failures: number,
  refused = 1,
): Promise<Place> {
  const mark = randomUUID().slice(0, 8);
  const [id, name] = [`sick-${mark}`, `Sick ${mark}`];
  const group = await administrator.api<Schemas['Group']>('POST', '/api/admin/groups', { name: `Group ${mark}`, sortOrder: 5000 });
  await administrator.api('POST', '/api/admin/upstreams', {
    id: `up-${mark}`,
    name: `Provider ${mark}`,
    baseUrl: url,
    key: 'upstream-key',
    skipCheck: true,
  });
  await administrator.api('POST', '/api/admin/capabilities', {
    id,
    name,
    groupId: group.id,
    upstreamModel: 'm',
    defaultPath: '/v1/chat/completions',
    upstreams: [{ upstreamId: `up-${mark}` }],
  });
  await administrator.api('PUT', '/api/admin/prices', {
    capabilityId: id,
    upstreamModel: null,
    currency: 'CNY',
    from: addDays(today(), -1),
    input: '10000',
    cached: null,
    cacheWrite: null,
    output: '10000',
  });
  const eve = new Developer(await stranger(), ada.base);
  await eve.signIn();
  const app = await ada.createApplication(`Search ${mark}`, [id]);
  const other = await eve.createApplication(`Reports ${mark}`, [id]);
  const unbound = await ada.createApplication(`Old ${mark}`, []);
  await ada.calls(app.accessKey, 2, { capability: id });
  for (let left = failures; left > 0; left -= 10)
    await Promise.all(Array.from({ length: Math.min(10, left) }, () => ada.call(app.accessKey, { capability: id, model: 'fails' })));
  await eve.call(other.accessKey, { capability: id, model: 'fails' });
  await ada.calls(unbound.accessKey, refused, { capability: id });
  await ada.counted(failures + 2 + refused);
  await eve.counted(1);
  return { id, name, app, other, eve };
}
