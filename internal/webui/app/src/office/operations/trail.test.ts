import { expect, test } from 'vitest';
import type { Schemas } from '../../api/client';
import { folded, membersOf, moves } from './trail';

const entry = (id: number, action: string, targetId = 'app', changes: Schemas['AuditEntry']['changes'] = []): Schemas['AuditEntry'] => ({
  id,
  at: `2026-08-17T09:31:${String(60 - id).padStart(2, '0')}.000+08:00`,
  actor: 'a@example.com',
  action,
  targetType: 'application',
  targetId,
  targetName: targetId,
  changes,
});

test('repeats of a trail are one row with their number and their first time; what lies between parts them', () => {
  const view = 'access_key.reveal';
  const rows = folded([
    entry(1, view),
    entry(2, view),
    entry(3, view),
    entry(4, 'application.update'),
    entry(5, view),
    entry(6, view, 'other'),
  ]);
  expect(rows.map(({ entry: { id }, times }) => [id, times])).toEqual([
    [1, 3],
    [4, 1],
    [5, 1],
    [6, 1],
  ]);
  expect(rows[0]!.since).toBe(entry(3, view).at);
  expect(
    folded([
      entry(1, 'group.update', 'g', [{ field: 'name', from: 'a', to: 'b' }]),
      entry(2, 'group.update', 'g', [{ field: 'name', from: 'b', to: 'c' }]),
    ]),
  ).toHaveLength(2);
});

test('an order tells what was moved: one thing where one explains it', () => {
  const ids = Array.from({ length: 31 }, (_, n) => `c${n + 1}`);
  expect(moves(ids, ['c31', ...ids.slice(0, 30)])).toEqual([{ id: 'c31', from: 31, to: 1 }]);
  expect(moves(ids, [...ids.slice(1), 'c1'])).toEqual([{ id: 'c1', from: 1, to: 31 }]);
  expect(moves(['a', 'b', 'c'], ['a', 'c', 'b'])).toHaveLength(1);
  expect(moves(['a', 'b', 'c', 'd'], ['b', 'a', 'd', 'c'])).toEqual([
    { id: 'b', from: 2, to: 1 },
    { id: 'a', from: 1, to: 2 },
    { id: 'd', from: 4, to: 3 },
    { id: 'c', from: 3, to: 4 },
  ]);
  expect(moves(['a'], ['a'])).toEqual([]);
});

test('the upstreams of a capability are told in the words of the trail, or not taken apart', () => {
  expect(membersOf('north (priority 1, weight 1000, enabled), south (priority 2, weight 1, disabled)')).toEqual([
    { id: 'north', priority: '1', weight: '1000', status: 'enabled' },
    { id: 'south', priority: '2', weight: '1', status: 'disabled' },
  ]);
  expect(membersOf('north')).toBeNull();
});
