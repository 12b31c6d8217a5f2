import { expect, test } from 'vitest';
import { kept } from './query';

test('a view keeps what is asked, in whatever order, and not the page of the list', () => {
  expect(kept(new URLSearchParams('metric=cost&by=tag:team&page=3&until=x'))).toBe('by=tag%3Ateam&metric=cost');
  expect(kept(new URLSearchParams('by=tag%3Ateam&metric=cost'))).toBe('by=tag%3Ateam&metric=cost');
  expect(kept(new URLSearchParams('tag=b:1&tag=a:1'))).toBe('tag=b%3A1&tag=a%3A1');
});
