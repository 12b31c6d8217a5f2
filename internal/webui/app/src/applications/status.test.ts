import { expect, test } from 'vitest';
import { withStatus } from './status';

const search = { id: 'a', name: 'Search', status: 'active', calls: 3 };
const chat = { id: 'b', name: 'Chat', status: 'active', calls: 1 };

test('a status changes in a list, in the figures and in the application itself, and only there', () => {
  expect(withStatus({ items: [search, chat], total: 2 }, 'a', 'disabled')).toEqual({
    items: [{ ...search, status: 'disabled' }, chat],
    total: 2,
  });
  expect(withStatus({ application: search, models: [] }, 'a', 'disabled')).toEqual({
    application: { ...search, status: 'disabled' },
    models: [],
  });
  expect(withStatus(search, 'a', 'disabled')).toEqual({ ...search, status: 'disabled' });
  expect(withStatus({ application: chat }, 'a', 'disabled')).toEqual({ application: chat });
});

test('what was not read yet stays so, and the old answer is not touched', () => {
  expect(withStatus(undefined, 'a', 'disabled')).toBeUndefined();
  const list = { items: [search] };
  withStatus(list, 'a', 'disabled');
  expect(list.items[0]).toBe(search);
  expect(search.status).toBe('active');
});
