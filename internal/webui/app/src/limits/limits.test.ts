import { expect, test } from 'vitest';
import { changed, level, limitsOf, parse, typedOf, wrong } from './limits';

const none = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, callsPerDay: null, tokensPerDay: null };

test('a limit is read as people write numbers, and nothing else is one', () => {
  expect(['120', ' 12,000 ', '12 000', '1_000', '1，000', '1000000000000'].map(parse)).toEqual([
    120, 12_000, 12_000, 1_000, 1_000, 1_000_000_000_000,
  ]);
  expect(['', '  '].map(parse)).toEqual([null, null]);
  expect(['0', '-1', '1.5', '1e3', 'x', '1000000000001', '99999999999999999999'].map(parse)).toEqual(Array(7).fill(undefined));
  expect(wrong({ ...typedOf(null), concurrency: 'x', tokensPerDay: '0' })).toEqual(['concurrency', 'tokensPerDay']);
});

test('only what was changed is sent, and an emptied field removes its limit', () => {
  const stored = { ...none, requestsPerMinute: 120, concurrency: 5 };
  expect(typedOf(stored)).toEqual({ requestsPerMinute: '120', tokensPerMinute: '', concurrency: '5', callsPerDay: '', tokensPerDay: '' });
  expect(changed(stored, typedOf(stored))).toEqual({});
  expect(changed(stored, { ...typedOf(stored), concurrency: '', callsPerDay: '1,000' })).toEqual({ concurrency: null, callsPerDay: 1000 });
  expect(limitsOf(typedOf(stored))).toEqual(stored);
});

test('a bar says how much is used, no more than all of it, and nothing where that is not known', () => {
  expect(level({ used: 79, limit: 100 })).toEqual({ share: 0.79, state: 'ok' });
  expect(level({ used: 80, limit: 100 })).toEqual({ share: 0.8, state: 'near' });
  expect(level({ used: 150, limit: 100 })).toEqual({ share: 1, state: 'reached' });
  expect(level({ used: null, limit: 100 })).toBeNull();
  expect(level({ used: null, limit: null })).toBeNull();
});
