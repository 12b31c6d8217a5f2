import { expect, test } from 'vitest';
import { draftOf, fresh, KINDS, pastOf, UNITS, USUAL, type Typed } from './draft';
import type { Alert } from './queries';

test('an upstream that is left out is watched of an application, or by administrators, in minutes', () => {
  const targets = (site: 'own' | 'office') => KINDS[site].find(({ kind }) => kind === 'upstreamLeftOut')?.targets;
  expect(targets('own')).toEqual(['application']);
  expect(targets('office')).toEqual(['capability', 'upstream']);
  expect(UNITS.upstreamLeftOut).toBe('minutes');
  const typed = { ...fresh('own'), name: 'Out', kind: 'upstreamLeftOut' as const, targetId: 'a', threshold: USUAL.upstreamLeftOut };
  expect(draftOf(typed)).toEqual({
    name: 'Out',
    kind: 'upstreamLeftOut',
    targetType: 'application',
    targetId: 'a',
    threshold: 5,
    channels: [{ kind: 'mail' }],
  });
});

test('the past is asked for of what is whole, with the threshold of resolution that is kept', () => {
  const typed = { ...fresh('own', 'a'), threshold: '20' };
  const rule = { kind: 'failureRate', targetType: 'application', targetId: 'a', threshold: 20, windowMinutes: 5, minCalls: 20 };
  expect(pastOf(typed, null)).toEqual(rule);
  const saved = { threshold: 20, resolveThreshold: 7 } as Alert;
  expect(pastOf(typed, saved)).toEqual({ ...rule, resolveThreshold: 7 });
  expect(pastOf({ ...typed, threshold: '30' }, saved)).toEqual({ ...rule, threshold: 30 });
  for (const wrong of [
    { targetId: '' },
    { threshold: '' },
    { threshold: '101' },
    { threshold: '2,5' },
    { minCalls: '0.5' },
    { kind: 'cost', currency: 'US' },
    { kind: 'budget' },
    { kind: 'dayClosed', targetType: 'account' },
  ] as Partial<Typed>[])
    expect(pastOf({ ...typed, ...wrong }, null), JSON.stringify(wrong)).toBeNull();
});
