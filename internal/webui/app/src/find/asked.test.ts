import { expect, test } from 'vitest';
import { read } from './asked';

const id = '0198b5c9-42a8-7e10-b1c2-3d4e5f607182';

test('a call id is found in whatever it was copied with', () => {
  for (const text of [
    id,
    `X-Call-Id: ${id}`,
    `  ${id.toUpperCase()}\n`,
    `429 Too Many Requests call=${id} 3ms`,
    `https://gate/calls/${id}`,
  ])
    expect(read(text).ids, text).toEqual([id]);
});

test('a call id without dashes may be a trace id too', () => {
  expect(read(id.replaceAll('-', ''))).toMatchObject({ ids: [id], traces: [id.replaceAll('-', '')] });
});

test('a traceparent names its trace, not its span', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  expect(read(`00-${trace}-00f067aa0ba902b7-01`)).toMatchObject({ ids: [], traces: [trace] });
  expect(read(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`).traces).toEqual([]);
});

test('anything else is words, no more than the API takes', () => {
  expect(read('  search bar ')).toEqual({ ids: [], traces: [], words: 'search bar' });
  expect(read('x'.repeat(100)).words).toHaveLength(64);
});
