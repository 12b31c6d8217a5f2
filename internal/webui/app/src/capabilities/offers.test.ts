import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { costsMore, offersOf, rateIn, usualOf, type Price } from './offers';

const price = (change: Partial<Price> = {}): Price => ({
  upstreamModel: null,
  tier: null,
  fromBand: 0,
  from: '2026-01-01',
  currency: 'USD',
  input: '2.5',
  cached: null,
  cacheWrite: null,
  output: '10',
  amounts: {},
  ...change,
});
const capability = (id: string, change: Partial<Schemas['Capability']> = {}): Schemas['Capability'] => ({
  id,
  groupId: 'g',
  name: id,
  description: '',
  sortOrder: 0,
  status: 'enabled',
  upstreamModel: '',
  defaultPath: '',
  price: null,
  otherPrices: 0,
  costBelieved: false,
  applicationCount: 0,
  ...change,
});
const section = (...items: Schemas['Capability'][]) => ({ id: 'g', name: 'Group', items });

test('figures that are not known are absent, and those of what was not called are 0', () => {
  const usage = { model: 'a', calls: 3, successes: 2, p95Ms: 40 };
  expect(offersOf(section(capability('a'), capability('b')), [usage]).map(({ calls, p95Ms }) => [calls, p95Ms])).toEqual([
    [3, 40],
    [0, null],
  ]);
  expect(offersOf(section(capability('a')), null)[0]).toMatchObject({ calls: null, successes: 0, p95Ms: null });
});

test('more than two prices are told of', () => {
  expect(costsMore(capability('a'))).toBe(false);
  expect(costsMore(capability('a', { price: price() }))).toBe(false);
  for (const more of [
    { otherPrices: 1 },
    { costBelieved: true, price: null },
    { price: price({ cached: '0' }) },
    { price: price({ cacheWrite: '3' }) },
    { price: price({ amounts: { images: '0.04' } }) },
  ])
    expect(costsMore(capability('a', { price: price(), ...more })), JSON.stringify(more)).toBe(true);
});

test('prices are compared in the currency that most of them are in', () => {
  const offers = offersOf(
    section(
      capability('none'),
      capability('usd', { price: price() }),
      capability('cny', { price: price({ currency: 'CNY', input: '0.000000000001' }) }),
      capability('more', { price: price({ currency: 'CNY' }) }),
    ),
    [],
  );
  expect(usualOf(offers)).toBe('CNY');
  expect(usualOf(offers.slice(0, 3))).toBe('CNY'); // of those alike the first
  expect(usualOf([])).toBe('');
  expect(offers.map((offer) => rateIn(offer, 'CNY', 'input'))).toEqual([null, null, 1e-12, 2.5]);
});
