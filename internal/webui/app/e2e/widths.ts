import type { Page } from '@playwright/test';
import english from '../src/locale/en/index';
import chinese from '../src/locale/zh/index';
import { withLongSessions, withLongTokens, type LongCatalog } from './long';
import { dayOf } from '../src/range/days';
import { prefer } from './test';

type Words = typeof english;
export const widths = [390, 768, 1024, 1440] as const;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).locator('visible=true');

/** A page in a state in which it has most to show. */
export interface View {
  name: string;
  url: string;
  prepare?: (page: Page, words: Words) => Promise<unknown>;
}

const log = async (page: Page, words: Words) => {
  await button(page, words.applications.log).first().click();
  await page.locator('.calls-table tr.call').first().waitFor();
};

/** Every page of the console for the application `id`. */
export const consoleViews = (id: string, { capabilityId }: LongCatalog): View[] => [
  { name: 'overview', url: '/' },
  { name: 'overview-table', url: '/', prepare: (page, words) => button(page, words.common.chart.table).click() },
  {
    name: 'overview-dates',
    url: '/',
    prepare: async (page, words) => {
      await button(page, words.common.range.custom).click();
      await page.locator('.ant-picker-dropdown').waitFor();
    },
  },
  { name: 'applications', url: '/applications?page=2' },
  { name: 'applications-first', url: '/applications' },
  { name: 'application', url: `/applications/${id}` },
  {
    name: 'application-key',
    url: `/applications/${id}?tab=keys`,
    prepare: (page, words) => button(page, words.applications.secret.show).click(),
  },
  { name: 'application-alerts', url: `/applications/${id}?tab=alerts` },
  { name: 'application-settings', url: `/applications/${id}?tab=settings` },
  {
    name: 'form',
    url: `/applications/${id}?tab=settings`,
    prepare: async (page, words) => {
      await button(page, words.applications.edit).first().click();
      await page.locator('.choices fieldset').first().waitFor();
    },
  },
  { name: 'calls', url: `/applications/${id}`, prepare: log },
  {
    name: 'calls-success',
    url: `/applications/${id}`,
    prepare: async (page, words) => {
      await log(page, words);
      await page.locator('tr.call', { hasText: words.calls.result.success }).first().click();
      await page.locator('.call-more').waitFor();
    },
  },
  {
    name: 'failure',
    url: `/applications/${id}`,
    prepare: async (page, words) => {
      await log(page, words);
      await page.locator('tr.call', { hasText: words.calls.result.failure }).first().click();
      await page.locator('.verdict').waitFor();
    },
  },
  { name: 'alerts', url: '/alerts' },
  { name: 'own-calls', url: '/calls', prepare: (page) => page.locator('.calls-table tr.call').first().waitFor() },
  { name: 'explorer', url: `/applications/${id}/calls`, prepare: (page) => page.locator('.calls-table tr.call').first().waitFor() },
  {
    name: 'explorer-call',
    url: `/applications/${id}/calls?result=failure`,
    prepare: async (page) => {
      await page.locator('.calls-table tr.call').first().click();
      await page.locator('.verdict').waitFor();
    },
  },
  {
    name: 'day-by-hour',
    url: `/applications/${id}?start=${dayOf(Date.now())}&end=${dayOf(Date.now())}`,
    prepare: (page, words) => button(page, words.common.chart.table).click(),
  },
  {
    name: 'search',
    url: '/',
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('Customer');
      await page.getByRole('option').first().waitFor();
    },
  },
  { name: 'capabilities', url: '/capabilities' },
  { name: 'capability', url: `/capabilities/${capabilityId}` },
  {
    name: 'try',
    url: `/capabilities/${capabilityId}?tab=try&app=${id}`,
    prepare: async (page, words) => {
      await button(page, words.playground.send).click();
      await page.locator('.try-figures a').waitFor();
    },
  },
  { name: 'sessions', url: '/sessions', prepare: withLongSessions },
  { name: 'tokens', url: '/tokens', prepare: withLongTokens },
  { name: 'news', url: '/whats-new' },
  {
    name: 'explore',
    url: '/explore?metric=cost&by=tag:team&compare=month&user=somebody%20with%20a%20long%20name&result=failure&status=502',
    prepare: (page) => page.locator('.explore-table').waitFor(),
  },
  { name: 'budgets', url: '/budgets' },
  {
    name: 'application-budgets',
    url: `/applications/${id}?tab=limits`,
    prepare: (page, words) => button(page, words.budgets.edit).click(),
  },
];

/** The back office's pages of figures. */
export const figuresViews = ({ capabilityId }: LongCatalog): View[] => [
  { name: 'admin-health', url: '/admin' },
  { name: 'admin-usage', url: '/admin/usage' },
  { name: 'admin-explore', url: '/admin/explore?by=owner' },
  { name: 'admin-usage-applications', url: '/admin/usage?by=applications&sort=cost&owner=0198b5c2-1f30-7a0c-8d55-90e2c4a1b700' },
  { name: 'admin-usage-capabilities', url: '/admin/usage?by=capabilities&sort=tokens' },
  { name: 'admin-usage-upstreams', url: '/admin/usage?by=upstreams&sort=failureRate' },
  {
    name: 'admin-figures',
    url: `/admin/capabilities/${capabilityId}/figures`,
    prepare: (page, words) => button(page, words.common.chart.table).click(),
  },
];

/** Every other page of the back office. */
export const officeViews = ({ groupId, capabilityId }: LongCatalog): View[] => [
  { name: 'admin-news', url: '/admin/whats-new' },
  { name: 'admin-groups', url: '/admin/groups' },
  { name: 'admin-group-new', url: '/admin/groups', prepare: (page, words) => button(page, words.admin.groups.add).click() },
  { name: 'admin-capabilities', url: '/admin/capabilities?q=routing' },
  { name: 'admin-capabilities-order', url: `/admin/capabilities?groupId=${groupId}` },
  { name: 'admin-capability', url: `/admin/capabilities/${capabilityId}` },
  { name: 'admin-capability-new', url: `/admin/capabilities/new?groupId=${groupId}` },
  { name: 'admin-upstreams', url: '/admin/upstreams' },
  { name: 'admin-upstream-new', url: '/admin/upstreams', prepare: (page, words) => button(page, words.admin.upstreams.add).click() },
  { name: 'admin-prices', url: '/admin/prices' },
  {
    name: 'admin-price-new',
    url: `/admin/prices?capability=${capabilityId}`,
    prepare: (page, words) => button(page, words.admin.prices.add).click(),
  },
  { name: 'admin-reconcile', url: '/admin/reconcile' },
  { name: 'admin-limits', url: '/admin/limits' },
  { name: 'admin-ceiling-new', url: '/admin/limits', prepare: (page, words) => button(page, words.admin.limits.add).click() },
  { name: 'admin-budgets', url: '/admin/budgets' },
  { name: 'admin-budgets-new', url: '/admin/budgets', prepare: (page, words) => button(page, words.admin.budgets.add).click() },
  { name: 'admin-budgets-uncovered', url: '/admin/budgets?view=uncovered' },
  { name: 'admin-alerts', url: '/admin/alerts' },
  { name: 'admin-applications', url: '/admin/applications' },
  {
    name: 'admin-application-disable',
    url: '/admin/applications?status=active',
    prepare: async (page, words) => {
      await page.getByRole('button', { name: words.admin.directory.disable, exact: false }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'admin-application-move',
    url: '/admin/applications',
    prepare: async (page, words) => {
      await page.getByRole('button', { name: words.admin.directory.move, exact: false }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'admin-users', url: '/admin/users' },
  { name: 'admin-spools', url: '/admin/spools' },
  { name: 'admin-calls', url: '/admin/calls' },
  { name: 'admin-audit', url: '/admin/audit' },
];

export const strangerViews: View[] = [
  { name: 'sign-in', url: '/sign-in' },
  {
    name: 'sign-in-code',
    url: '/sign-in',
    prepare: async (page, words) => {
      await page.route('**/auth/code', (route) => route.fulfill({ json: { code: 0, msg: 'ok', data: null } }));
      await page.getByLabel(words.session.email).fill(`${'a-rather-long-name'.repeat(3)}@${'of-a-host.'.repeat(10)}example.com`);
      await button(page, words.session.send).click();
      await page.locator('.ant-otp-input').first().waitFor();
    },
  },
  { name: 'admin-sign-in', url: '/admin/sign-in' },
];

/** Where pictures of the views are to be put, and with it in every look: each is looked at by a person. */
export const pictures = process.env['WIDTHS'];
const looks = [
  ['en', 'light'],
  ['zh-CN', 'dark'],
  ...(pictures
    ? ([
        ['en', 'dark'],
        ['zh-CN', 'light'],
      ] as const)
    : []),
] as const;

/** Opens each view in both languages and themes and calls `see` at every width, with what it looks at. */
export async function everyWidth(page: Page, views: readonly View[], see: (what: string) => Promise<void>): Promise<void> {
  for (const [language, theme] of looks) {
    await prefer(page, language, theme);
    for (const { name, url, prepare } of views) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(url);
      await page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.bone'));
      await prepare?.(page, language === 'en' ? english : (chinese as unknown as Words));
      for (const width of widths) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await see(`${name}-${language}-${theme}-${width}`);
      }
    }
  }
}
