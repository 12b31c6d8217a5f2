import { tokensOf } from './figures';
import { mkdirSync } from 'node:fs';
import type { Page } from '@playwright/test';
import english from '../src/locale/en/index';
import chinese from '../src/locale/zh/index';
import { addDays, dayOf } from '../src/range/days';
import { CLAUDE, prefer, test, type Administrator, type Developer } from './test';

export type Words = typeof english;
type Look = readonly [language: 'en' | 'zh-CN', theme: 'light' | 'dark', width: 1440 | 390];

/** Every two of language, theme and width meet in one of these. */
export const looks: readonly Look[] = [
  ['en', 'light', 1440],
  ['zh-CN', 'dark', 1440],
  ['zh-CN', 'light', 390],
  ['en', 'dark', 390],
];
/** For states that differ from a page of above in a few words. */
export const twice: readonly Look[] = [looks[0]!, ['zh-CN', 'dark', 390]];

/** With LOOKS=all, for whoever looks at every picture, a page is taken in each look at both widths, a state in the four of above. */
const every: readonly Look[] = [...looks, ...looks.map(([language, theme, width]): Look => [language, theme, width === 390 ? 1440 : 390])];
const asked = (wanted: readonly Look[]) =>
  process.env['LOOKS'] !== 'all' ? wanted : wanted === looks ? every : wanted === twice ? looks : wanted;

export interface Shot {
  /** Brings the page into its state, in the words of the look. */
  prepare?: (words: Words) => Promise<unknown>;
  looks?: readonly Look[];
  /** Of the window; without it the whole page is taken. */
  height?: number;
  /** Does not wait for answers: there are none. */
  waiting?: boolean;
}

/** In two looks, for a state that differs in a few words. */
export const few = (prepare?: Shot['prepare']): Shot => ({ looks: twice, ...(prepare ? { prepare } : {}) });
/** The same for what stands over a page: the window is taken. */
export const dialog = (prepare: NonNullable<Shot['prepare']>): Shot => ({ looks: twice, prepare, height: 900 });

/** The pictures of a file may take their time, and browsers complain of what is provoked for them. */
export function patiently(): void {
  test.beforeEach(({ page, expected }) => {
    expected.push(/./);
    page.setDefaultTimeout(120_000);
    test.setTimeout(1_800_000);
  });
}

const folder = process.env['SHOTS'] ?? 'screenshots';

/** Takes a page in its looks, to `folder`/name-language-theme-width.png. */
export async function shoot(
  page: Page,
  name: string,
  url: string,
  { prepare, looks: wanted = looks, height, waiting = false }: Shot = {},
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [language, theme, width] of asked(wanted)) {
    await prefer(page, language, theme);
    await page.setViewportSize({ width, height: height ?? (width === 390 ? 844 : 900) });
    await page.goto(url);
    if (!waiting) await page.waitForLoadState('networkidle');
    await page.waitForFunction(
      (loading) => document.querySelector('h1, h2, [role=alert], .empty') && (loading || !document.querySelector('.bone')),
      waiting,
    );
    await prepare?.(language === 'en' ? english : (chinese as unknown as Words));
    // A window as high as the page: in a picture of a scrolled page the tabs would stand in its middle.
    if (height === undefined)
      await page.setViewportSize({ width, height: await page.evaluate(() => document.documentElement.scrollHeight) });
    await page.waitForTimeout(400); // what fades in is there
    await page.screenshot({ path: `${folder}/${name}-${language}-${theme}-${width}.png` });
  }
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

interface Figures {
  calls: number;
  failures: number;
}
const figures = ({ calls, failures }: Figures) => ({
  calls,
  failures,
  successes: calls - failures,
  successRate: calls === 0 ? null : (calls - failures) / calls,
  ...(calls === 0
    ? { avgDurationMs: null, p50Ms: null, p95Ms: null, p99Ms: null }
    : { avgDurationMs: 842, p50Ms: 610, p95Ms: 2100, p99Ms: 4800 }),
  ...tokensOf(calls),
});

interface Part {
  model: string;
  name: string;
}
interface Told {
  items?: object[];
  daily?: { date: string }[];
  summary?: object;
  models?: Part[];
  missed: number;
  collectedSince?: string;
}

/** Figures of years: the product only has what was called since it started, a minute ago. */
export async function withHistory(page: Page, { missed = 0, models }: { missed?: number; models?: readonly Part[] } = {}): Promise<void> {
  await page.route(/\/api\/statistics\/applications(\/[\w-]+)?\?/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Told };
    const { data } = body;
    data.missed = missed;
    data.items?.forEach((item, n) =>
      Object.assign(
        item,
        figures(
          n % 5 === 4
            ? { calls: 0, failures: 0 }
            : { calls: Math.round(48_210 / (n + 1) ** 2), failures: n === 2 ? 0 : Math.round(311 / (n + 1) ** 2) },
        ),
      ),
    );
    if (data.daily) Object.assign(data, byDay(data, models));
    await route.fulfill({ response: answer, json: body });
  });
}

function byDay(data: Told, models: readonly Part[] = data.models ?? []): object {
  const total = { calls: 0, failures: 0 };
  const today = dayOf(Date.now());
  for (const day of data.daily!) {
    if (day.date > today) continue;
    const n = Math.round(Date.parse(day.date) / 86_400_000) % 97;
    const share = day.date === today ? 0.6 : 1;
    const made = { calls: Math.round(share * (420 + ((n * 137) % 260) + n * 3)), failures: Math.round(share * (2 + ((n * 7) % 19))) };
    total.calls += made.calls;
    total.failures += made.failures;
    Object.assign(day, figures(made), { avgDurationMs: 780 + ((n * 53) % 140), p95Ms: 2100 + ((n * 71) % 500) });
  }
  const left = { ...total };
  const parts = models.map((part, n) => {
    const last = n === models.length - 1;
    const made = {
      calls: last ? left.calls : Math.round(left.calls * 0.62),
      failures: last ? left.failures : Math.round(left.failures * 0.7),
    };
    left.calls -= made.calls;
    left.failures -= made.failures;
    return { ...part, ...figures(made), avgDurationMs: 690 + n * 130, p95Ms: 1980 + n * 310 };
  });
  const since = `${addDays(today, -800)}T00:00:00.000+08:00`;
  return { ...(data.summary ? { summary: figures(total) } : figures(total)), models: parts, collectedSince: since };
}

/** Three applications with calls of every kind of end; returns the one with most. */
export async function withCalls(developer: Developer): Promise<{ id: string; accessKey: string }> {
  const search = await developer.createApplication('Search assistant');
  const support = await developer.createApplication('Support desk 客服', [CLAUDE]);
  await developer.createApplication('Nightly reports');
  await developer.call(search.accessKey, { capability: 'demo-chatt' });
  await developer.call(search.accessKey, { capability: null });
  await developer.call(search.accessKey, {
    body: { model: 'demo', messages: [{ role: 'user', content: 'long '.repeat(5000) }] },
    query: { delay: 'x' },
  });
  await developer.calls(search.accessKey, 20);
  for (const model of ['demo-error-500', 'demo-cut', 'demo-error-429']) await developer.calls(search.accessKey, 2, { model });
  await developer.call(support.accessKey);
  await developer.calls(support.accessKey, 8, {
    capability: CLAUDE,
    path: '/v1/messages',
    body: { model: 'demo', max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] },
  });
  await developer.counted(38);
  return search;
}

/** Two groups as a company would have them, one capability switched off. */
export async function withCatalog(administrator: Administrator): Promise<void> {
  const catalog: [group: string, name: string, capabilities: [id: string, name: string, description: string][]][] = [
    [
      'language',
      'Language models 语言模型',
      [
        ['chat-large', 'Chat large', 'The strongest model, for hard questions and long documents. 128K context.'],
        ['chat-small', 'Chat small 对话（轻量）', '回答快、价格低，适合分类、摘要和日常问答。'],
        ['code-review', 'Code review', ''],
      ],
    ],
    [
      'retrieval',
      'Retrieval 检索',
      [
        ['embedding-v3', 'Embedding v3', 'Vectors of 1,024 dimensions for search and clustering.'],
        ['rerank-multilingual-2026-11-preview', 'Rerank multilingual (preview)', 'Orders search results by how well they answer.'],
      ],
    ],
  ];
  const known = (await administrator.api<{ items: { id: string }[] }>('GET', '/api/admin/groups')).items;
  if (known.some(({ id }) => id === 'language')) return;
  for (const [groupId, name, capabilities] of catalog) {
    await administrator.api('POST', '/api/admin/groups', { id: groupId, name, sortOrder: 100 });
    for (const [n, [id, capability, description]] of capabilities.entries())
      await administrator.api('POST', '/api/admin/capabilities', {
        id,
        name: capability,
        groupId,
        description,
        sortOrder: n + 1,
        upstreamBaseUrl: 'https://models.example.com',
        upstreamKey: 'upstream-key',
        upstreamModel: id,
        defaultPath: '/v1/chat/completions',
      });
  }
  await administrator.api('PATCH', '/api/admin/capabilities/code-review/status', { status: 'disabled' });
}
