import { expect, test } from 'vitest';
import { exact, indented, member, written } from './exact';

test('numbers keep every digit they were written with', () => {
  const text = '{"id":9007199254740993,"big":[12345678901234567890,-0,1.10,1e400],"same":1,"same":2}';
  expect(written(exact(text))).toBe(text);
  expect(indented('{"id": 9007199254740993}')).toBe('{\n  "id": 9007199254740993\n}');
});

test('all else is written as JSON.stringify writes it', () => {
  const values = [
    null,
    true,
    'x',
    '',
    1,
    [],
    {},
    [[]],
    [{}],
    { a: [], b: {} },
    [1, [2, { c: '"\\\n,:{}[]' }]],
    { 'a"b': '你\u2028', '': null },
  ];
  for (const value of values) {
    expect(indented(JSON.stringify(value)), JSON.stringify(value)).toBe(JSON.stringify(value, null, 2));
    expect(written(exact(JSON.stringify(value, null, 3)))).toBe(JSON.stringify(value));
  }
  expect(indented('"\\u4f60\\u597d"')).toBe('"你好"');
});

test('a member is found by its name, the last one where there are two', () => {
  expect(member(exact('{"a":1,"b":2,"a":3}'), 'a')).toBe('3');
  expect(member(exact('{"a":1}'), 'b')).toBeUndefined();
  expect(member(exact('[1]'), 'length')).toBeUndefined();
  expect(member(undefined, 'a')).toBeUndefined();
});

test('what is no JSON is refused as JSON.parse refuses it', () => {
  for (const bad of ['', '{', '[1,]', '{"a"}', 'undefined', "'a'", '01']) expect(() => exact(bad), bad).toThrow(SyntaxError);
});
