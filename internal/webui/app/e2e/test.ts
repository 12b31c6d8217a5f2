import { expect, test as plain, type BrowserContext, type Page } from '@playwright/test';
import { addDays, dayOf } from '../src/range/days';
import { axeFaults } from './axe';
import { Administrator, Developer } from './people';
import { administrator } from './product';

export { expect };
export * from './people';

/** Milliseconds that a test takes at most, on a slow machine. */
const LONGEST_TEST = 90_000;

interface Fixtures {
  /** "Today" is one day for a whole test: one that would begin shortly before Beijing's midnight waits for it. */
  oneDay: undefined;
  /** Faults a test provokes on purpose; anything else the browser complains of fails it. */
  expected: RegExp[];
  watched: undefined;
  /** A developer of this test alone; `page` is signed in as them. */
  developer: Developer;
  /** An administrator; `page` is signed in to the back office. */
  administrator: Administrator;
}

interface Kept {
  officeSession: { email: string; cookies: Awaited<ReturnType<BrowserContext['cookies']>>; token: string };
}

export const test = plain.extend<Fixtures, Kept>({
  baseURL: async ({}, use) => use(process.env['CALLGATE_BASE']!),
  oneDay: [
    async ({}, use) => {
      const left = Date.parse(`${addDays(dayOf(Date.now()), 1)}T00:00:00+08:00`) - Date.now();
      if (left < LONGEST_TEST) await new Promise((midnight) => setTimeout(midnight, left));
      await use(undefined);
    },
    { auto: true, timeout: 2 * LONGEST_TEST },
  ],
  expected: async ({}, use) => use([/\/api\/(admin\/)?auth\/token .*401/]), // nobody is signed in
  watched: [
    async ({ context, baseURL, expected }, use) => {
      const faults: string[] = [];
      await context.exposeBinding('cspFault', (_source, text: string) => void faults.push(text));
      await context.addInitScript(() => {
        document.addEventListener(
          'securitypolicyviolation',
          (event) =>
            void (window as unknown as { cspFault: (text: string) => void }).cspFault(
              `policy ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`,
            ),
        );
      });
      context.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') faults.push(`console ${message.location().url} ${message.text()}`);
      });
      context.on('weberror', (error) => faults.push(`uncaught ${error.error().stack}`));
      context.on('request', (request) => {
        if (!request.url().startsWith(baseURL!) && !/^(data|blob|about):/.test(request.url()))
          faults.push(`foreign request ${request.url()}`);
      });
      await use(undefined);
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' }); // an answer on its way belongs to nobody
      await context.unrouteAll({ behavior: 'ignoreErrors' });
      expect(faults.filter((fault) => !expected.some((known) => known.test(fault)))).toEqual([]);
    },
    { auto: true },
  ],
  developer: async ({ context, baseURL }, use) => {
    const developer = new Developer(context.request, baseURL!);
    await developer.signIn();
    await use(developer);
  },
  officeSession: [
    async ({ browser }, use, { workerIndex }) => {
      const context = await browser.newContext();
      const person = new Administrator(context.request, process.env['CALLGATE_BASE']!, administrator(workerIndex));
      await person.signIn();
      const kept = { email: person.email, cookies: await context.cookies(), token: person.currentToken };
      await context.close();
      await use(kept);
    },
    { scope: 'worker' },
  ],
  administrator: async ({ context, baseURL, officeSession }, use) => {
    await context.addCookies(officeSession.cookies);
    const person = new Administrator(context.request, baseURL!, officeSession.email);
    person.adopt(officeSession.token);
    await use(person);
  },
});

/** Language and theme as the browser would have chosen them before. */
export async function prefer(page: Page, language: 'zh-CN' | 'en', theme: 'light' | 'dark' | 'system' = 'light'): Promise<void> {
  await page.context().addCookies([{ name: 'callgate_ui', value: `${language}.${theme}`, url: process.env['CALLGATE_BASE']! }]);
}

/** Nothing of any impact is found by axe on the page as it stands, or in the part that `within` selects. */
export async function expectAccessible(page: Page, within?: string): Promise<void> {
  expect(await axeFaults(page, within)).toEqual([]);
}

/** Nothing is wider than the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
}

/** Runs a check in both themes and both languages: `inEveryLook(page, () => expectAccessible(page))`. */
export async function inEveryLook(page: Page, ready: () => Promise<void>, check: () => Promise<void>): Promise<void> {
  for (const [language, theme] of [
    ['en', 'light'],
    ['zh-CN', 'dark'],
  ] as const) {
    await prefer(page, language, theme);
    await page.reload();
    await ready();
    await check();
  }
}
