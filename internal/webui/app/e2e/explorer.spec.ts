import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { components } from '../src/api/schema';
import { addDays, clockOf, dayOf } from '../src/range/days';
import { Journey } from './journey';
import { calls, figures, verdict } from './log';
import {
  CHAT,
  CLAUDE,
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  inEveryLook,
  test,
  type Developer,
  type NewApplication,
} from './test';

type CallPage = components['schemas']['CallPage'];

const today = () => dayOf(Date.now());
const claudeCall = {
  capability: CLAUDE,
  path: '/v1/messages',
  body: { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
};
const place = (app: { id: string }) => `/applications/${app.id}/calls`;
const filters = (page: Page) => page.getByRole('search', { name: 'Filters of the calls' });
const one = (page: Page) => page.getByRole('region', { name: 'Call', exact: true });
const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Two successes of one model and one of another, two answers 429 and one 500. */
async function withCalls(developer: Developer): Promise<{ app: NewApplication; failed: string[] }> {
  const app = await developer.createApplication('Search');
  await developer.calls(app.accessKey, 2);
  await developer.call(app.accessKey, claudeCall);
  const failed: string[] = [];
  for (const status of [429, 429, 500]) failed.unshift((await developer.call(app.accessKey, { model: `demo-error-${status}` })).callId);
  await developer.counted(6);
  return { app, failed };
}

test('every filter is in the URL at once, a reload keeps it, Back takes it back, and the rows are those of the API', async ({
  page,
  developer,
}) => {
  const { app, failed } = await withCalls(developer);
  await page.goto(place(app));
  await expect(page.getByRole('heading', { name: 'Call log of Search', level: 1 })).toBeVisible();
  await expect(calls(page)).toHaveCount(6);
  await filters(page).getByLabel('Result').selectOption('failure');
  await expect(calls(page)).toHaveCount(3);
  expect(query(page)).toEqual({ result: 'failure' });
  await filters(page).getByLabel('Reason').selectOption({ label: 'Upstream answered (3)' });
  await expect.poll(() => query(page)).toEqual({ result: 'failure', reason: 'upstream_http_error:upstream_status' });
  await filters(page).getByLabel('Status').fill('429');
  await filters(page).getByLabel('Status').press('Enter');
  await expect(calls(page)).toHaveCount(2);
  await page.getByLabel('Text of the upstream’s message').fill('ALWAYS answers 429');
  await expect
    .poll(() => query(page))
    .toEqual({ result: 'failure', reason: 'upstream_http_error:upstream_status', status: '429', text: 'ALWAYS answers 429' });
  await expect(calls(page)).toHaveCount(2);
  await filters(page).getByLabel('Model').selectOption(CHAT);
  await expect.poll(() => query(page)['model']).toBe(CHAT);
  await page.reload();
  await expect(calls(page).locator('[data-call]')).toHaveCount(2);
  const { items } = await developer.api<CallPage>(
    'GET',
    `/api/statistics/applications/${app.id}/calls?${new URL(page.url()).searchParams}`,
  );
  expect(items.map(({ callId }) => callId)).toEqual(failed.slice(1));
  for (const [n, { callId, startTime }] of items.entries()) {
    await expect(calls(page).nth(n).locator('[data-call]')).toHaveAttribute('data-call', callId);
    await expect(calls(page).nth(n)).toContainText(startTime.slice(11, 19));
    await expect(calls(page).nth(n).locator('[data-column="reason"]')).toHaveText('Upstream answered 429');
  }
  await expect(page.locator('.call-day')).toHaveText([new RegExp(`^${today()} `)]); // the day is said once
  await page.goBack();
  await expect.poll(() => query(page)['model']).toBeUndefined();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(calls(page)).toHaveCount(6);
  expect(query(page)).toEqual({});
  await expect(filters(page).getByLabel('Status')).toHaveValue('');
});

test('times of day narrow the day, and a wrong one is said', async ({ page, developer }) => {
  const { app } = await withCalls(developer);
  await page.goto(place(app));
  await page.getByRole('button', { name: 'Today' }).click();
  await expect.poll(() => query(page)).toEqual({ start: today(), end: today() });
  const { items } = await developer.api<CallPage>('GET', `/api/statistics/applications/${app.id}/calls?start=${today()}&end=${today()}`);
  const last = clockOf(Math.floor(Date.parse(items[0]!.startTime) / 1000) * 1000 + 1000);
  const to = last === '00:00:00' ? '24:00' : last.replace(/:00$/, '');
  await page.getByLabel('To', { exact: true }).fill(to);
  await page.getByLabel('To', { exact: true }).press('Enter');
  await expect.poll(() => query(page)['to']).toBe(to);
  await expect(figures(page)).toContainText(/Calls 6\s*Successes 3\s*Failures 3/);
  await page.getByLabel('To', { exact: true }).fill('0:00:01');
  await page.getByLabel('To', { exact: true }).press('Enter');
  await expect(page.getByText('No such calls')).toBeVisible();
  await page.getByLabel('From', { exact: true }).fill('25:00');
  await page.getByLabel('From', { exact: true }).press('Enter');
  await expect(page.getByText('Write a time such as 14:00; the end comes after the beginning.')).toBeVisible();
  await expect(page.getByLabel('From', { exact: true })).toHaveAttribute('aria-invalid', 'true');
});

test('what a link says wrongly is left out, with a notice', async ({ page, developer }) => {
  const { app } = await withCalls(developer);
  await page.goto(`${place(app)}?status=9000&from=noon&result=failure`);
  await expect(page.getByText('What the link says of status, from is not valid and was left out.')).toBeVisible();
  await expect.poll(() => query(page)).toEqual({ result: 'failure' });
  await expect(calls(page)).toHaveCount(3);
});

test('a call opens in its place: a failure with its reason, a success with its facts; a reload keeps it open, and Back returns to its row', async ({
  page,
  developer,
}) => {
  const { app, failed } = await withCalls(developer);
  await page.goto(place(app));
  await calls(page).first().click();
  await expect(page).toHaveURL(`${place(app)}/${failed[0]}`);
  await expect(verdict(page)).toContainText('The upstream answered 500');
  await expect(one(page).getByRole('region', { name: 'Body' }).locator('pre')).toContainText('demo-error-500');
  await page.reload();
  await expect(verdict(page)).toContainText('The upstream answered 500');
  const next = page.getByRole('button', { name: 'Next call (D)' });
  for (const id of failed.slice(1)) {
    await expect(next).toBeEnabled();
    await page.keyboard.press('d');
    await expect(page).toHaveURL(`${place(app)}/${id}`);
    await expect(one(page)).toContainText(id); // the address changes first
  }
  await expect(next).toBeEnabled();
  await page.keyboard.press('d'); // steps go to every call of the list
  await expect(verdict(page)).toContainText(/^ ?Succeeded with 200 in /);
  await expect(one(page)).toContainText(CLAUDE);
  await expect(one(page)).toContainText('First byte');
  await page.keyboard.press('e');
  await expect(page).toHaveURL(`${place(app)}/${failed[2]}`);
  await expect(one(page)).toContainText(failed[2]!);
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(place(app));
  await expect(page.locator(`[data-call="${failed[2]}"]`)).toBeFocused();
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${place(app)}/${failed[1]}`);
  await expect(verdict(page)).toContainText('The upstream answered 429');
  await page.goBack();
  await expect(page.locator(`[data-call="${failed[1]}"]`)).toBeFocused();
});

test('pages are of one list, in the URL; steps and jumps lead over them', async ({ page, developer }) => {
  const app = await developer.createApplication('Search');
  const made: string[] = [];
  for (let n = 0; n < 21; n++)
    made.unshift((await developer.call(app.accessKey, { model: n % 2 === 0 ? 'demo-error-500' : 'demo' })).callId);
  await developer.counted(21);
  await page.goto(`${place(app)}?start=${today()}&end=${today()}`);
  await expect(calls(page)).toHaveCount(10);
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page.locator(`[data-call="${made[10]}"]`)).toBeVisible();
  expect(query(page)['page']).toBe('2');
  expect(query(page)['until']).toMatch(/\+08:00$/);
  await developer.call(app.accessKey);
  await developer.counted(22);
  await page.reload();
  await expect(page.locator(`[data-call="${made[10]}"]`)).toBeVisible(); // the list is as it was
  await page.locator(`[data-call="${made[19]}"]`).click();
  await expect(page).toHaveURL(new RegExp(`${made[19]}\\?`));
  await expect(one(page)).toContainText(made[19]!);
  await page.keyboard.press('d');
  await expect(page).toHaveURL(new RegExp(`${made[20]}\\?.*page=3`));
  await expect(verdict(page)).toContainText('The upstream answered 500');
  await page.keyboard.press('Escape');
  await expect(page.locator(`[data-call="${made[20]}"]`)).toBeFocused();
  await page.getByLabel('Go to time').fill('23:59:59');
  await page.getByLabel('Go to time').press('Enter');
  await expect.poll(() => query(page)['page']).toBeUndefined();
  await expect(calls(page)).toHaveCount(10);
  const row = page.locator('[data-call]').first();
  await expect(row).toBeFocused();
});

test('the download has the calls of the filter, with their reasons', async ({ page, developer }) => {
  const { app, failed } = await withCalls(developer);
  await page.goto(`${place(app)}?result=failure&status=429`);
  await expect(calls(page)).toHaveCount(2);
  const file = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  const stream = await (await file).createReadStream();
  const text = Buffer.concat((await stream.toArray()) as Buffer[]).toString();
  const [head, ...rows] = text.trim().split(/\r?\n/);
  expect(head).toContain('reasonType,reasonCode,upstreamStatus');
  expect(rows.map((row) => row.split(',')[0]).sort()).toEqual(failed.slice(1).sort());
  for (const row of rows) expect(row).toContain('upstream_http_error,upstream_status,429');
});

test('today is live: a call made now appears by itself, and the page says how long ago it was read', async ({ page, developer }) => {
  const { app } = await withCalls(developer);
  await page.goto(place(app));
  await expect(calls(page)).toHaveCount(6);
  await expect(page.locator('.call-live')).toHaveText(/^Live · updated \d s ago$/);
  const { callId } = await developer.call(app.accessKey);
  await expect(page.locator(`[data-call="${callId}"]`)).toBeVisible();
  await expect(figures(page)).toContainText('Calls 7');
  await page.getByRole('button', { name: 'Yesterday' }).click();
  await expect(page.locator('.call-live')).toHaveCount(0);
});

test('a call by its id alone says what became of it and leads to those around it', async ({ page, developer }) => {
  const { app, failed } = await withCalls(developer);
  await page.goto(`/calls/${failed[0]}`);
  await expect(verdict(page)).toContainText('The upstream answered 500');
  await page.reload();
  await expect(verdict(page)).toContainText('The upstream answered 500');
  await page.getByRole('link', { name: 'Calls of Search around it' }).click();
  await expect(page).toHaveURL(new RegExp(`${place(app)}\\?`));
  await expect(page.locator(`[data-call="${failed[0]}"]`)).toBeVisible();
});

test('a call that was just made is waited for', async ({ page, developer, expected }) => {
  expected.push(/ 404 /);
  const app = await developer.createApplication('Search');
  const { callId } = await developer.call(app.accessKey);
  await page.goto(`/calls/${callId}`);
  await expect(verdict(page)).toContainText('Succeeded with 200');
});

test('another’s call, application and filter are told as if they were not there', async ({
  page,
  developer,
  browser,
  baseURL,
  expected,
}) => {
  expected.push(/ 404 /);
  const context = await browser.newContext();
  const { Developer } = await import('./people');
  const other = new Developer(context.request, baseURL!);
  await other.signIn();
  const { app, failed } = await withCalls(other);
  const said: string[] = [];
  for (const id of [failed[0]!, randomUUID(), 'nonsense']) {
    await page.goto(`/calls/${id}`);
    await expect(page.getByText('There is no such call, or it is not yours.')).toBeVisible();
    said.push(await page.locator('main').innerText());
  }
  expect(new Set(said).size).toBe(1);
  await page.goto(`${place(app)}?result=failure`);
  await expect(page.locator('main')).toContainText('There is no such application');
  await context.close();
  void developer;
});

test('journey: from a failures figure to the failing calls and the reason of one', async ({ page, developer }) => {
  const { app, failed } = await withCalls(developer);
  await page.goto(`/applications/${app.id}`);
  await expect(page.locator('.tile')).toContainText(['Calls', 'Success rate', 'Failures', 'Avg duration']);
  const journey = new Journey(page, 'figure → failing calls → reason');
  await journey.click(page.getByRole('link', { name: 'Failures 3' }));
  await expect(calls(page)).toHaveCount(3);
  await journey.click(calls(page).first());
  await expect(verdict(page)).toContainText('The upstream answered 500');
  expect(journey.done().clicks).toBe(2);
  await expect(page).toHaveURL(`${place(app)}/${failed[0]}?result=failure`);
});

/** Lets the product's calls of today be those of yesterday: the days of what is asked and answered are moved. */
async function withYesterday(page: Page): Promise<void> {
  const [next, now, before, first] = [1, 0, -1, -30].map((days) => addDays(today(), days)) as [string, string, string, string];
  await page.route(/\/api\/(statistics|calls)\//, async (route) => {
    const url = route
      .request()
      .url()
      .replace(new RegExp(`to=${now}`), `to=${next}`)
      .replaceAll(before, now); // yesterday's last hour ends today
    const answer = await route.fetch({ url });
    const text = (await answer.text())
      .replaceAll(now, before)
      .replace(/"collectedSince":"[^"]*"/g, `"collectedSince":"${first}T00:00:00.000+08:00"`)
      .replace(/"retainedFrom":"[^"]*"/g, `"retainedFrom":"${first}"`);
    await route.fulfill({ response: answer, body: text });
  });
}

test('journey: why yesterday from one hour to the next', async ({ page, developer }) => {
  const { app } = await withCalls(developer);
  await withYesterday(page);
  const hour = Number(clockOf(Date.now()).slice(0, 2));
  const clock = (n: number) => `${String(n).padStart(2, '0')}:00`;
  await page.goto(place(app));
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const journey = new Journey(page, 'yesterday, one hour');
  await journey.click(page.getByRole('button', { name: 'Yesterday' }));
  await journey.write(page.getByLabel('From', { exact: true }), clock(hour));
  await journey.write(page.getByLabel('To', { exact: true }), clock(hour + 1));
  await journey.click(page.locator('.call-figures').getByRole('button', { name: /^Failures/ }));
  await expect(calls(page).first()).toContainText('Upstream answered 500'); // the column says why
  expect(journey.done().clicks).toBeLessThanOrEqual(4);
  expect(query(page)).toMatchObject({ start: addDays(today(), -1), from: clock(hour), to: clock(hour + 1), result: 'failure' });
});

test('the calls and a call pass axe, and fit every width', async ({ page, developer }) => {
  const { app, failed } = await withCalls(developer);
  for (const path of [place(app), `${place(app)}/${failed[0]}`, `/calls/${failed[0]}`]) {
    await page.goto(path);
    await inEveryLook(
      page,
      async () => {
        await expect(page.locator('[data-call], .call-facts').first()).toBeVisible();
      },
      async () => {
        await expectAccessible(page);
        for (const width of [390, 768, 1024, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await expect(() => expectNoSidewaysScroll(page)).toPass(); // a chart is drawn anew
        }
      },
    );
  }
});
