import { expect, test } from 'vitest';
import { pageNumbers } from './pageNumbers';

const written = (page: number, pages: number, near = 1) =>
  pageNumbers(page, pages, near)
    .map((n) => n ?? '…')
    .join(' ');

test('a pager has the first and the last page, those near, and no gap that one number would fill', () => {
  expect(written(1, 1)).toBe('1');
  expect(written(1, 2)).toBe('1 2');
  expect(written(1, 9)).toBe('1 2 … 9');
  expect(written(3, 9)).toBe('1 2 3 4 … 9');
  expect(written(4, 9)).toBe('1 2 3 4 5 … 9');
  expect(written(5, 9)).toBe('1 … 4 5 6 … 9');
  expect(written(9, 9)).toBe('1 … 8 9');
  expect(written(500, 1_234_568)).toBe('1 … 499 500 501 … 1234568');
  expect(written(5, 9, 0)).toBe('1 … 5 … 9');
  expect(written(3, 9, 0)).toBe('1 2 3 … 9');
});

test('past the end nothing but pages that exist is offered', () => {
  expect(written(9, 2)).toBe('1 2');
  expect(written(9, 4)).toBe('1 … 4');
});
