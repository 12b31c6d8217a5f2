import type { Schemas } from '../api/client';

/** What has an amount besides the four of every price, and of how much the amount is. */
export const METERS = {
  cache_write_5m: 'million',
  cache_write_30m: 'million',
  cache_write_1h: 'million',
  cache_write_12h: 'million',
  input_audio: 'million',
  input_image: 'million',
  input_video: 'million',
  reasoning: 'million',
  output_audio: 'million',
  output_image: 'million',
  search_units: 'thousand',
  web_searches: 'thousand',
  tool_calls: 'thousand',
  images: 'image',
  pages: 'page',
  characters: 'characters',
  milliseconds: 'second',
} as const;
export type Meter = keyof typeof METERS;

/** Amounts in the order of METERS, with those of meters that these pages know. */
export const listed = (amounts: Schemas['Amounts']): { meter: Meter; amount: string }[] =>
  (Object.keys(METERS) as Meter[]).flatMap((meter) => {
    const amount = amounts[meter];
    return amount === undefined ? [] : [{ meter, amount }];
  });
