import { existsSync } from 'node:fs';
import { expect, type BrowserContext } from '@playwright/test';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { axeFaults } from './axe';

/** Debian's Firefox; FIREFOX names another. Playwright's own is older and not what people have. */
const executablePath = process.env['FIREFOX'] ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));

/** Firefox as people have it, over WebDriver BiDi, and what it complained of. */
export class Firefox {
  readonly faults: string[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    private readonly base: string,
  ) {}

  static async open(base: string): Promise<Firefox> {
    if (executablePath === undefined)
      throw new Error('Firefox is missing: install firefox-esr (make browsers does where apt may be used), or name it in FIREFOX');
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath,
      headless: true,
      extraPrefsFirefox: { 'intl.accept_languages': 'en-US' },
    });
    const page = await browser.newPage();
    const opened = new Firefox(browser, page, base);
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) opened.faults.push(`console ${message.location().url ?? ''} ${message.text()}`);
    });
    page.on('pageerror', (error) => opened.faults.push(`uncaught ${error instanceof Error ? error.stack : error}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !/^(data|blob|about):/.test(request.url()))
        opened.faults.push(`foreign request ${request.url()}`);
    });
    return opened;
  }

  close = () => this.browser.close();

  /** Takes over who is signed in where. */
  async adopt(context: BrowserContext): Promise<void> {
    for (const { name, value, path, httpOnly, domain } of await context.cookies())
      await this.browser.setCookie({ name, value, path, httpOnly, domain, sameSite: 'Strict' });
  }

  async width(width: number): Promise<void> {
    await this.page.setViewport({ width, height: width === 390 ? 844 : 900 });
  }

  /** Opens a page and waits until it stands. */
  async goto(path: string): Promise<void> {
    await this.page.goto(this.base + path);
    await this.page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.bone'));
  }

  /** Clicks the first button or link with this text. */
  click = (text: string, tag: 'a' | 'button' = 'button') => this.page.locator(`::-p-xpath(//${tag}[normalize-space(.)="${text}"])`).click();

  at = () => this.page.url().slice(this.base.length);

  text = (selector: string) =>
    this.page
      .locator(selector)
      .map((element) => element.textContent ?? '')
      .wait();

  async expectAccessible(): Promise<void> {
    expect(await axeFaults(this.page), this.at()).toEqual([]);
  }
}
