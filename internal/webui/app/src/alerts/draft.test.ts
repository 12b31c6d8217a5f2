import { expect, test } from 'vitest';
import { draftOf, fresh, KINDS, UNITS, USUAL } from './draft';

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
