import type { Locator, Page } from '@playwright/test';
import type { Cost, Tokens, Total } from '../src/tokens/tokens';

/** Figures of tokens for answers that a test makes up: an answer without calls, or where nothing was reported. */
export const noTokens: { tokens: Tokens; cost: Cost[]; totals: Total[] } = {
  tokens: {
    input: null,
    output: null,
    cached: null,
    cacheWrite: null,
    reasoning: null,
    reportedCalls: 0,
    partialCalls: 0,
    absentCalls: 0,
    unreadableCalls: 0,
    streamedCalls: 0,
    streamedAbsentCalls: 0,
  },
  cost: [],
  totals: [],
};

/** Those of so many calls, all of which reported. */
export const tokensOf = (calls: number): { tokens: Tokens; cost: Cost[]; totals: Total[] } =>
  calls === 0
    ? noTokens
    : {
        tokens: {
          input: calls * 1_460,
          output: calls * 312,
          cached: calls * 520,
          cacheWrite: null,
          reasoning: calls * 45,
          reportedCalls: calls - 1,
          partialCalls: 1,
          absentCalls: 0,
          unreadableCalls: 0,
          streamedCalls: Math.ceil(calls / 2),
          streamedAbsentCalls: Math.floor(calls / 5),
        },
        cost: [{ amount: (calls * 0.0047).toFixed(4), currency: 'USD', pricedCalls: calls, unpricedCalls: 0 }],
        totals: [],
      };

/** The figure of a tile. */
export const tile = (page: Page, label: string): Locator =>
  page.locator('.tile', { has: page.getByText(label, { exact: true }) }).locator('strong');
