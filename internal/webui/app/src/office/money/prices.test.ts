import { expect, test } from 'vitest';
import { draft, fresh, histories, replaced, stored, taken, type Price } from './prices';

const price = (change: Partial<Price> = {}): Price => ({
  id: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3',
  capabilityId: 'chat',
  upstreamModel: null,
  tier: null,
  fromBand: 0,
  from: '2026-08-01',
  currency: 'USD',
  input: '1.25',
  cached: null,
  cacheWrite: '2',
  output: '10',
  amounts: {},
  createdBy: 'root@example.com',
  createdAt: '',
  updatedBy: 'root@example.com',
  updatedAt: '',
  ...change,
});

test('an empty model is any, an empty cached rate is the input’s, and a currency may be typed small', () => {
  expect(draft({ ...fresh(' chat ', '2026-08-01', 'usd'), input: ' 1.25', output: '10' })).toEqual({
    capabilityId: 'chat',
    upstreamModel: null,
    tier: null,
    fromBand: 0,
    from: '2026-08-01',
    currency: 'USD',
    input: '1.25',
    cached: null,
    cacheWrite: null,
    output: '10',
    amounts: {},
  });
  expect(draft(stored(price({ upstreamModel: 'm', cached: '0.1' })))).toMatchObject({ upstreamModel: 'm', cached: '0.1', cacheWrite: '2' });
  const more = { tier: 'flex', fromBand: 200_000, amounts: { images: '0.04', cache_write_1h: '6' } } as const;
  expect(draft(stored(price(more)))).toMatchObject(more);
});

test('a price holds until the day before the next of the same model, and each has its state', () => {
  const list = [
    price({ from: '2026-09-01' }),
    price({ from: '2026-08-01' }),
    price({ from: '2026-01-01' }),
    price({ from: '2026-01-01', upstreamModel: 'm' }),
    price({ from: '2025-01-01', upstreamModel: 'm', fromBand: 200_000 }),
    price({ from: '2024-01-01', upstreamModel: 'm', tier: 'flex', fromBand: 200_000 }),
    price({ from: '2026-01-01', capabilityId: 'embed' }),
  ];
  expect(histories(list, '2026-08-31').map(({ until, state }) => [until, state])).toEqual([
    [null, 'coming'],
    ['2026-08-31', 'now'],
    ['2026-07-31', 'past'],
    [null, 'now'],
    [null, 'now'],
    [null, 'now'],
    [null, 'now'],
  ]);
});

test('what would be replaced is the price of the same capability, model, tier, length and day', () => {
  const list = [
    price({ fromBand: 200_000, id: 'long' }),
    price(),
    price({ upstreamModel: 'm', id: 'm' }),
    price({ tier: 'flex', id: 'flex' }),
  ];
  expect(replaced(list, fresh('chat', '2026-08-01', ''))?.id).toBe(list[1]!.id);
  expect(replaced(list, { ...fresh('chat', '2026-08-01', ''), upstreamModel: 'm' })?.id).toBe('m');
  expect(replaced(list, { ...fresh('chat', '2026-08-01', ''), tier: ' flex ' })?.id).toBe('flex');
  expect(replaced(list, { ...fresh('chat', '2026-08-01', ''), fromBand: '200000' })?.id).toBe('long');
  expect(replaced(list, { ...fresh('chat', '2026-08-01', ''), tier: 'flex', fromBand: '200000' })).toBeUndefined();
  expect(replaced(list, fresh('chat', '2026-08-02', ''))).toBeUndefined();
  expect(replaced(list, fresh('embed', '2026-08-01', ''))).toBeUndefined();
});

test('a suggestion fills in the price and its day, and leaves what it is for', () => {
  const typed = { ...fresh('chat', '2026-08-01', 'CNY'), upstreamModel: 'm', tier: 'flex', cached: '9' };
  const one = {
    provider: 'P',
    model: 'other',
    exact: false,
    fromBand: 200_000,
    from: null,
    currency: 'USD',
    input: '1',
    cached: null,
    cacheWrite: null,
    output: '2',
    amounts: { web_searches: '10', cache_write_1h: '2' },
    notes: [],
  } as const;
  expect(taken(typed, { ...one, notes: [] })).toEqual({
    ...typed,
    fromBand: '200000',
    currency: 'USD',
    input: '1',
    cached: '',
    cacheWrite: '',
    output: '2',
    amounts: [
      { meter: 'cache_write_1h', amount: '2' },
      { meter: 'web_searches', amount: '10' },
    ],
  });
  expect(taken(typed, { ...one, notes: [], from: '2026-09-01' }).from).toBe('2026-09-01');
});
