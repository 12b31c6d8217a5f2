import { expect, test } from 'vitest';
import { anyEntry, auditFilter, auditQuery, targetPath } from './auditFilter';

const read = (query: string) => auditFilter(new URLSearchParams(query));

test('the filter is what the URL says, and what is no day is left out', () => {
  expect(read('')).toEqual({ actor: '', action: '', target: '', start: '', end: '' });
  expect(anyEntry(read('page=3'))).toBe(true);
  expect(read('actor=ada@&action=application.&target=gpt&start=2026-11-01&end=2026-11-31')).toEqual({
    actor: 'ada@',
    action: 'application.',
    target: 'gpt',
    start: '2026-11-01',
    end: '',
  });
  expect(read('start=2026-11-02&end=2026-11-01').end).toBe('');
  expect(read(`target=${'x'.repeat(300)}`).target).toHaveLength(254);
});

test('days become the instants of Beijing, the last day included', () => {
  expect(auditQuery(read('start=2026-11-30&end=2026-12-31&actor=ada'))).toEqual({
    actor: 'ada',
    from: '2026-11-30T00:00:00+08:00',
    to: '2027-01-01T00:00:00+08:00',
  });
  expect(auditQuery(read(''))).toEqual({});
});

test('a target leads to its page where there is one', () => {
  const of = (action: string, targetType: string, targetId = 'a:b', targetName = 'A b') =>
    targetPath({ action, targetType, targetId, targetName });
  expect(of('capability.update', 'capability')).toBe('/admin/capabilities/a%3Ab');
  expect(of('capability.reorder', 'group')).toBe('/admin/capabilities?groupId=a%3Ab');
  expect(of('application.update', 'application', 'id')).toBe('/admin/applications?q=id');
  expect(of('user.end_sessions', 'user', 'id', 'ada@example.com')).toBe('/admin/users?q=ada%40example.com');
  expect(of('application.delete', 'application')).toBeNull();
  expect(of('alert.create', 'alert')).toBeNull();
  expect(of('group.reorder', 'group', '')).toBeNull();
});
