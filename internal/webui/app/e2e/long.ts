import { tokensOf } from './figures';
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '../src/range/days';
import { CHAT, CLAUDE, type Administrator, type Developer, type NewApplication } from './test';

/** The longest names the product takes: one word, many words, and Chinese, which has no spaces. */
export const LONG = [
  'Customer_service_summarisation_and_routing_pipeline_of_the_North',
  'Customer service summarisation and routing pipelines (northern)!',
  '客户服务摘要与工单分派流水线（华北）'.repeat(4).slice(0, 64),
] as const;
const LONG_TEXT = 'It_answers_questions_of_customers_about_orders_that_are_late_'.repeat(16).slice(0, 1024);

/** A group of the catalog whose names and identifiers are the longest there can be, and the first of its capabilities. */
export interface LongCatalog {
  groupId: string;
  capabilityId: string;
}

export async function withLongCatalog(administrator: Administrator): Promise<LongCatalog> {
  const mark = randomUUID().slice(0, 8); // tests run side by side
  const id = (n: number) => `${mark}-summarisation-and-routing-of-customer-service-tickets-of-2026`.slice(0, 63) + n;
  const groupId = `${mark}-language-models-for-customer-service-of-the-northern-region`.slice(0, 64);
  await administrator.api('POST', '/api/admin/groups', { id: groupId, name: LONG[0].slice(0, 56) + mark, sortOrder: 900 });
  const { upstreamBaseUrl } = await administrator.api<{ upstreamBaseUrl: string }>('GET', `/api/admin/capabilities/${CHAT}`);
  const rest = { groupId, upstreamKey: 'upstream-key', upstreamModel: id(1), defaultPath: '/v1/chat/completions' };
  await administrator.api('POST', '/api/admin/capabilities', {
    ...rest,
    id: id(1),
    name: LONG[0],
    description: LONG_TEXT,
    upstreamBaseUrl,
  });
  await administrator.api('POST', '/api/admin/capabilities', {
    ...rest,
    id: id(2),
    name: LONG[2],
    upstreamBaseUrl: `https://${'a-rather-long-name-of-a-host.'.repeat(6)}example.com/v1`,
  });
  await administrator.api('POST', '/api/admin/capabilities', {
    ...rest,
    id: id(3),
    name: LONG[1],
    upstreamBaseUrl: 'https://models.example.com',
  });
  for (const n of [1, 2])
    await administrator.api('POST', '/api/admin/upstreams', {
      id: id(n),
      name: LONG[n],
      baseUrl: upstreamBaseUrl,
      key: 'upstream-key',
      skipCheck: true,
    });
  await administrator.api('PATCH', `/api/admin/upstreams/${id(1)}`, { key: 'another-upstream-key', skipCheck: true });
  await administrator.api('PATCH', `/api/admin/capabilities/${id(1)}`, {
    upstreams: [1, 2].map((n) => ({ upstreamId: id(n), weight: 1000, priority: n })),
  });
  const price = {
    capabilityId: id(1),
    currency: 'CNY',
    input: '123456789.1234',
    cached: '123456.1234',
    cacheWrite: '234567.1234',
    output: '999999999.9999',
  };
  for (const from of ['2026-01-01', '2026-02-01'])
    await administrator.api('PUT', '/api/admin/prices', { ...price, from, upstreamModel: id(1) });
  return { groupId, capabilityId: id(1) };
}

/** Twelve applications with the longest names; one is disabled, the newest has every capability and calls of each kind. */
export async function withLongApplications(developer: Developer, { capabilityId }: LongCatalog): Promise<NewApplication> {
  for (let n = 0; n < 10; n++) await developer.createApplication(LONG[n % 3]!, []);
  const off = await developer.createApplication(LONG[0], []);
  await developer.api('PATCH', `/api/applications/${off.id}/status`, { status: 'disabled' });
  const app = await developer.createApplication(LONG[0], [CHAT, CLAUDE, capabilityId]);
  await developer.api('PATCH', `/api/applications/${app.id}`, { description: LONG_TEXT });
  await developer.api('PUT', `/api/applications/${app.id}/budgets`, {
    budgets: ['day', 'week', 'month'].map((period) => ({
      period,
      amount: '999999999.999999',
      currency: 'CNY',
      action: 'block',
    })),
  });
  await developer.calls(app.accessKey, 2);
  await developer.call(app.accessKey, { capability: capabilityId, model: capabilityId });
  await developer.counted(3);
  return app;
}

const big = {
  calls: 12_345_678,
  successes: 11_111_111,
  failures: 1_234_567,
  successRate: 0.9,
  avgDurationMs: 754_321,
  p50Ms: 125_000,
  p95Ms: 754_321,
  p99Ms: 3_605_000,
  ...tokensOf(12_345_678),
};

/** Figures of a service that is used much: 10⁷ calls a day, all of them slow, and long names in every list. */
export async function withBigFigures(page: Page, { capabilityId }: LongCatalog): Promise<void> {
  await page.route(/\/api\/statistics\/explore\?/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { parts: string[] } };
    const fields = (n: number) => ({
      value: `${12_345_678 * n}.123456789`,
      previous: `${2_345_678 * n}.5`,
      unknownCalls: 1_234_567,
      values: body.data.parts.map((_, at) => String((at + 1) * n * 1_000_000)),
    });
    const items = LONG.concat(LONG, LONG).map((group, n) => ({ group, name: n % 2 ? group : null, ...fields(9 - n) }));
    Object.assign(body.data, { currency: 'USD', total: fields(40), items, other: fields(1) });
    await route.fulfill({ response: answer, json: body });
  });
  await page.route(/\/api\/statistics\/applications(\/[\w-]+)?(\/calls)?\?/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as {
      data: { items?: { callId?: string }[]; daily?: { date: string }[]; summary?: object; calls?: number; end: string };
    };
    const { data } = body;
    const today = dayOf(Date.now());
    const past = data.end < addDays(today, -1);
    const scale = past ? { calls: 4, successes: 3, failures: 1 } : big;
    for (const item of data.items ?? [])
      Object.assign(item, item.callId === undefined ? big : { model: capabilityId, durationMs: 3_605_000 });
    for (const day of data.daily ?? []) Object.assign(day, day.date > today ? {} : { ...big, ...scale });
    const models = LONG.concat(LONG, LONG, LONG).map((name, n) => ({
      ...big,
      model: n === 0 ? capabilityId : `${capabilityId.slice(0, -2)}${n}`,
      name,
    }));
    if (data.daily)
      Object.assign(data, {
        models,
        collectedSince: `${addDays(today, -800)}T00:00:00.000+08:00`,
        retainedFrom: addDays(today, -800),
        missed: 1_234_567,
      });
    if (data.summary) Object.assign(data.summary, big);
    if (data.items?.[0]?.callId !== undefined) Object.assign(data, { total: big.calls });
    if (data.calls !== undefined) Object.assign(data, big, { applicationCount: 12_345, enabledCount: 12_344 });
    await route.fulfill({ response: answer, json: body });
  });
}

/** The same for the back office: long names and 10⁷ in everything that administrators see of all owners. `of` is a capability that exists. */
export async function withBigOfficeFigures(
  page: Page,
  { capabilityId }: LongCatalog,
  of: { id: string; name: string } = { id: capabilityId, name: LONG[0] },
): Promise<void> {
  const today = dayOf(Date.now());
  const email = `${'a-rather-long-name'.repeat(3)}@${'of-a-host.'.repeat(10)}example.com`;
  const id = (n: number) => `0198b5c2-1f30-7a0c-8d55-90e2c4a1b7${String(n).padStart(2, '0')}`;
  const owner = { id: id(0), email };
  const hits = { applicationCount: 12_345, ownerCount: 2_345 };
  const hour = { calls: 12_345_678, failures: 1_234_567, successRate: 0.9, p95Ms: 754_321 };
  const before = { calls: 262_674, failures: 26_267, successRate: 0.9123, p95Ms: 3_605_000 };
  const [at, lately] = [Date.now() - 23 * 60_000, Date.now()].map((ms) =>
    new Date(ms + 8 * 3_600_000).toISOString().replace('Z', '+08:00'),
  );
  const app = (n: number) => ({ id: id(n), name: LONG[n % 3]!, status: n % 3 === 2 ? 'disabled' : 'active', owner });
  const reason = (n: number) => ({
    type: 'upstream_http_error',
    code: 'upstream_status',
    upstreamStatus: [503, 429, 400][n % 3]!,
    model: of.id,
    name: of.name,
    failures: 1_234_567,
    firstSeen: at,
    lastSeen: lately,
    ...hits,
  });
  const reasonNow = (n: number) => ({
    ...reason(n),
    failuresBefore: n === 0 ? 0 : 26_267,
    topApplications: [1, 2, 3].map((one) => ({ ...app(one), failures: 123_456 })),
  });
  const told = (items: object[]) => ({ failures: 12_345_678, other: { reasons: 12, failures: 123_456 }, items });
  const firstByte = { calls: big.calls, avgMs: 1234.5, p50Ms: 125_000, p95Ms: 754_321, p99Ms: 3_605_000 };
  const went = (n: number) => ({
    upstreamId: n === 2 ? null : of.id,
    name: n === 2 ? null : LONG[n]!,
    calls: big.calls,
    failures: big.failures,
    successRate: 0.9,
    failedOver: 1_234_567,
    p50Ms: 125_000,
    p95Ms: 754_321,
    p99Ms: 3_605_000,
    firstByte,
  });
  await page.route(/\/api\/admin\/statistics\//, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Record<string, unknown> & { daily?: { date: string }[]; end: string; hours?: object } };
    const { data } = body;
    const scale = data.end < addDays(today, -1) ? { calls: 4, successes: 3, failures: 1 } : {};
    const path = new URL(route.request().url()).pathname.split('/').slice(4).join('/');
    for (const day of data.daily ?? []) Object.assign(day, day.date > today ? {} : { ...big, ...scale });
    if (data.hours) Object.assign(data.hours, { lastHour: hour, hourBefore: before });
    Object.assign(data, {
      collectedSince: `${addDays(today, -800)}T00:00:00.000+08:00`,
      retainedFrom: addDays(today, -800),
      missed: 1_234_567,
    });
    if (path === 'overview')
      Object.assign(data, big, {
        applicationCount: 12_345,
        enabledCount: 12_344,
        ownerCount: 2_345,
        calling: hits,
        failing: hits,
        now: told([0, 1, 2].map(reasonNow)),
      });
    if (path === 'capabilities')
      data['items'] = LONG.map((name, n) => ({
        ...big,
        model: n === 0 ? of.id : `${capabilityId.slice(0, -2)}${n}`,
        name,
        status: 'enabled',
        calling: hits,
        failing: hits,
        lastHour: hour,
        hourBefore: before,
      }));
    if (path.startsWith('capabilities/'))
      Object.assign(data, {
        summary: big,
        calling: hits,
        failing: hits,
        reasons: told([0, 1, 2].map(reason)),
        firstByte,
        upstreams: [0, 1, 2].map(went),
        applications: { total: 12_345, items: Array.from({ length: 12 }, (_, n) => ({ ...app(n), ...hour, lastFailureAt: lately })) },
      });
    if (path === 'owners')
      Object.assign(data, {
        total: 12_345,
        currency: 'USD',
        items: [0, 1, 2].map((n) => ({ ...big, owner: { id: id(n), email }, applicationCount: 12_345, callingCount: 12_344 })),
      });
    if (path === 'applications') Object.assign(data, { total: 12_345, items: [0, 1, 2].map((n) => ({ ...big, ...app(n) })) });
    if (path === 'upstreams')
      data['items'] = [0, 1].map((n) => ({
        upstreamId: `${of.id}${n}`,
        calls: big.calls,
        failures: big.failures,
        failedOver: 1,
        p95Ms: 754_321,
        hourBefore: before,
        range: went(n),
      }));
    await route.fulfill({ response: answer, json: body });
  });
}

/** Sessions of browsers and of programs with the longest names there can be, on the page of sessions. */
export async function withLongSessions(page: Page): Promise<void> {
  await page.route('**/api/auth/sessions', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { items: { id: string; userAgent: string; current: boolean }[] } };
    const { items } = body.data;
    for (const userAgent of [LONG_TEXT.slice(0, 256), LONG[1].repeat(4).slice(0, 256), LONG[2].repeat(8).slice(0, 256), ''])
      items.push({ ...items[0]!, id: randomUUID(), userAgent, current: false });
    await route.fulfill({ response: answer, json: body });
  });
  await page.reload();
  await page.locator('.sessions tbody tr').nth(4).waitFor();
}

/** Management tokens with the longest names there can be, on their page; one of them has expired. */
export async function withLongTokens(page: Page): Promise<void> {
  const past = '2026-08-17T22:28:46.000+08:00';
  const token = { access: 'full', maskedToken: 'cgm-WWWW…WWWW', createdAt: past, lastUsedAt: past };
  const items = LONG.map((name, n) => ({
    ...token,
    id: randomUUID(),
    name: name.slice(0, 64),
    expiresAt: n === 0 ? past : '2099-12-31T22:00:00.000+08:00',
  }));
  await page.route('**/api/tokens', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: { items } } }));
  await page.reload();
  await page
    .locator('.management tbody tr')
    .nth(items.length - 1)
    .waitFor();
}
