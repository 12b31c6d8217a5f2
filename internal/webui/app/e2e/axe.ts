import { setTimeout as sleep } from 'node:timers/promises';
import axe from 'axe-core';

/** A page of whichever browser and driver. */
interface Evaluating {
  evaluate(script: string): Promise<unknown>;
}

/** What axe finds on the page as it stands, of any impact, or in the part that `within` selects. */
export async function axeFaults(page: Evaluating, within = 'html'): Promise<string[]> {
  await page.evaluate(axe.source);
  // A dialog that is there has not always begun to fade in. Where a test holds the clock it never does.
  for (let tries = 0; tries < 40 && (await page.evaluate(appearing)); tries++) await sleep(50);
  return (await page.evaluate(`(${found})(${JSON.stringify(within)})`)) as string[];
}

const appearing = `document.querySelector('[class*="ant-"][class*="-appear"], [class*="ant-"][class*="-enter"]') !== null`;

/** Runs in the page. */
async function found(within: string): Promise<string[]> {
  // What fades in has no contrast yet.
  const moving = document.getAnimations().filter((animation) => animation.effect?.getComputedTiming().iterations !== Infinity);
  await Promise.allSettled(moving.map((animation) => animation.finished));
  const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(within, { resultTypes: ['violations'] });
  return violations.map((v) => `${v.id}: ${v.nodes.map((node) => `${node.html} ${node.failureSummary}`).join(' | ')}`);
}
