import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import axe from 'axe-core';
import { expect } from '@playwright/test';
import { Builder, By, Capabilities, Key, error, until, type WebDriver, type WebElement } from 'selenium-webdriver';
import { freePort } from './free-port';

const LONGEST = 30_000; // ms that something of a page is waited for

/** Starts a program of Debian's, which must be there. */
async function start(program: string, args: string[], parts: Parameters<typeof spawn>[2] = {}): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: 'ignore', ...parts });
  await Promise.race([once(child, 'spawn'), once(child, 'error')]).catch(() => undefined);
  if (child.pid === undefined)
    throw new Error(`${program} is missing: install webkit2gtk-driver and xvfb (make browsers does where apt may be used)`);
  return child;
}

/** A screen that nobody sees; WebKitGTK's browser has no other way of being without one. */
async function screen(): Promise<{ display: string; child: ChildProcess }> {
  const child = await start('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = (await once(child.stdio[3] as Readable, 'data')) as [Buffer];
  return { display: `:${number.toString().trim()}`, child };
}

/** WebKit's WebDriver once it answers: the client gives a refused connection up after 45 ms. */
async function driverServer(display: string): Promise<{ url: string; server: ChildProcess }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await start('WebKitWebDriver', [`--port=${port}`], { env: { ...process.env, DISPLAY: display } });
  const deadline = Date.now() + LONGEST;
  while (
    !(await fetch(`${url}/status`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (server.exitCode !== null || Date.now() > deadline) {
      server.kill();
      throw new Error(`WebKitWebDriver does not answer at ${url} (exit code ${server.exitCode})`);
    }
    await new Promise((wait) => setTimeout(wait, 50));
  }
  return { url, server };
}

/** WebKit as Debian has it, in its own small browser, over WebDriver; and what it complained of. */
export class WebKit {
  private constructor(
    readonly driver: WebDriver,
    private readonly children: ChildProcess[],
    private readonly base: string,
  ) {}

  static async open(base: string): Promise<WebKit> {
    const { display, child } = await screen();
    const children = [child];
    try {
      const { url, server } = await driverServer(display);
      children.unshift(server);
      const driver = await new Builder()
        .usingServer(url)
        .withCapabilities(new Capabilities({ browserName: 'MiniBrowser' }))
        .build();
      await driver.manage().window().setRect({ x: 0, y: 0, width: 1440, height: 900 });
      await driver.get(`${base}/favicon.svg`);
      await driver.manage().addCookie({ name: 'callgate_ui', value: 'en.light', path: '/' });
      return new WebKit(driver, children, base);
    } catch (reason) {
      for (const left of children) left.kill();
      throw reason;
    }
  }

  async close(): Promise<void> {
    await this.driver.quit();
    for (const child of this.children) child.kill();
    await Promise.all(this.children.map((child) => child.exitCode === null && child.signalCode === null && once(child, 'exit')));
  }

  /** Opens a page; from then on its faults are listened for, which WebDriver itself tells nothing of. */
  async goto(path: string): Promise<void> {
    await this.driver.get(this.base + path);
    await this.driver.executeScript(`
      window.faults = [];
      const note = (text) => window.faults.push(String(text));
      addEventListener('error', (event) => note(event.message));
      addEventListener('unhandledrejection', (event) => note(event.reason));
      document.addEventListener('securitypolicyviolation', (event) => note(event.violatedDirective + ': ' + event.blockedURI));
      console.error = console.warn = (...parts) => note(parts.join(' '));
    `);
  }

  /** What was uncaught, refused by the policy or written as an error or a warning since the page was opened. */
  faults = () => this.driver.executeScript<string[]>('return window.faults');

  /** An element that is to be seen, by CSS or by how its text begins. */
  async find(what: string | { tag: string; text: string }): Promise<WebElement> {
    const by = typeof what === 'string' ? By.css(what) : By.xpath(`//${what.tag}[starts-with(normalize-space(.), "${what.text}")]`);
    const found = await this.driver.wait(until.elementLocated(by), LONGEST, `${JSON.stringify(what)} is there`);
    return this.driver.wait(until.elementIsVisible(found), LONGEST, `${JSON.stringify(what)} is to be seen`);
  }

  /** Does something with an element, again until it takes it: a dialog that is opening lets nothing of it have the focus yet. */
  private async retry(what: Parameters<WebKit['find']>[0], act: (element: WebElement) => Promise<void>): Promise<void> {
    const element = await this.find(what);
    const taken = () =>
      act(element).then(
        () => true,
        (reason: unknown) => {
          if (reason instanceof error.ElementNotInteractableError) return false;
          throw reason;
        },
      );
    await this.driver.wait(taken, LONGEST, `${JSON.stringify(what)} takes it`);
  }

  click = (what: Parameters<WebKit['find']>[0]) => this.retry(what, (element) => element.click());
  type = (selector: string, text: string) => this.retry(selector, (element) => element.sendKeys(text));
  press = (key: keyof typeof Key | string) => this.driver.actions().sendKeys(key).perform();

  /** The page's heading once it has this text, and nothing of the page is still on its way. */
  heading = (text: string) =>
    this.driver.wait(
      async () =>
        this.driver.executeScript<boolean>(
          `return !document.querySelector('.bone') && document.querySelector('h1')?.textContent.includes(arguments[0])`,
          text,
        ),
      LONGEST,
      `heading ${text}`,
    );

  path = async () => (await this.driver.getCurrentUrl()).slice(this.base.length);

  async expectAccessible(): Promise<void> {
    await this.driver.executeScript(axe.source);
    const found = await this.driver.executeAsyncScript<string[]>(`
      const done = arguments[0];
      const moving = document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations !== Infinity);
      Promise.allSettled(moving.map((one) => one.finished))
        .then(() => axe.run('html', { resultTypes: ['violations'] }))
        .then(({ violations }) => done(violations.map((v) => v.id + ': ' + v.nodes.map((node) => node.html).join(' | '))));
    `);
    expect(found, await this.path()).toEqual([]);
  }
}
