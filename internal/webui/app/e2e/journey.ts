import { test, type Locator, type Page } from '@playwright/test';

/** Counts what a person does on the way from a question to its answer; `done` prints it. */
export class Journey {
  private clicks = 0;
  private keys = 0;
  private readonly began = Date.now();

  constructor(
    private readonly page: Page,
    private readonly name: string,
  ) {}

  async click(on: Locator): Promise<void> {
    this.clicks++;
    await on.click();
  }

  /** A field is gone to, written into and left: one click and one key. */
  async write(field: Locator, text: string): Promise<void> {
    this.clicks++;
    this.keys++;
    await field.fill(text);
    await field.press('Enter');
  }

  /** A list of choices is opened, and one is chosen. */
  async choose(select: Locator, label: string): Promise<void> {
    this.clicks += 2;
    await select.selectOption({ label });
  }

  async press(key: string): Promise<void> {
    this.keys++;
    await this.page.keyboard.press(key);
  }

  /** What is pasted is one key, however long. */
  async paste(text: string): Promise<void> {
    this.keys++;
    await this.page.keyboard.insertText(text);
  }

  /** What was taken, also as an annotation of the test. */
  done(): { clicks: number; keys: number; seconds: number } {
    const taken = { clicks: this.clicks, keys: this.keys, seconds: (Date.now() - this.began) / 1000 };
    test.info().annotations.push({
      type: 'journey',
      description: `${this.name}: ${taken.clicks} clicks, ${taken.keys} keys, ${taken.seconds.toFixed(1)} s`,
    });
    return taken;
  }
}
