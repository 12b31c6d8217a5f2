import { expect, test } from 'vitest';
import { csvOf, sheetOf } from './csv';
import { allPages } from './saveCsv';

test('what has a comma, a quote, a line break or a space at its beginning is quoted', () => {
  expect(
    sheetOf(
      ['a', 'b,"c"'],
      [
        ['x,y', 'say "hi"'],
        ['one\ntwo', 'one\r\ntwo'],
        [' in', 'plain 中文'],
      ],
    ),
  ).toBe('\ufeffa,"b,""c"""\n"x,y","say ""hi"""\n"one\ntwo","one\r\ntwo"\n" in",plain 中文\n');
});

test('what a spreadsheet would work out gets an apostrophe, and numbers do not', () => {
  for (const name of ['=cmd|x', '+1+1', '-1+1', '@SUM(A1)', '＝1', '－x', '＠x', '\u200b=1', '\u00a0=1', '-', '-1e5', '-0x1'])
    expect(csvOf([{ name }]), JSON.stringify(name)).toMatch(new RegExp(`^\ufeffname\n"?'`));
  expect(csvOf([{ name: '\t=1' }])).toBe("\ufeffname\n'\t=1\n");
  expect(csvOf([{ name: '\n=1' }])).toBe('\ufeffname\n"\'\n=1"\n');
  expect(csvOf([{ a: '-0.5', b: -2, c: 'a=b', d: '1-2' }])).toBe('\ufeffa,b,c,d\n-0.5,-2,a=b,1-2\n');
  expect(csvOf([{ '=x': 1 }])).toBe("\ufeff'=x\n1\n");
});

test('no digit is lost or made up', () => {
  const row = {
    n: 9007199254740991,
    big: 9223372036854775807n,
    rate: 0.6666,
    small: -1.25e-7,
    large: 1e21,
    amount: '0.000000000000000001',
  };
  expect(csvOf([row])).toBe(
    '\ufeffn,big,rate,small,large,amount\n9007199254740991,9223372036854775807,0.6666,-0.000000125,1000000000000000000000,0.000000000000000001\n',
  );
});

test('null is empty, and is neither 0 nor a word', () => {
  expect(csvOf([{ a: null, b: 0, c: false, d: '', e: [] }])).toBe('\ufeffa,b,c,d,e\n,0,false,,\n');
});

test('objects are told by their fields, amounts by their currencies, and other lists as JSON', () => {
  const cost = (currency: string | null, amount: string | null, unpricedCalls: number) => ({
    currency,
    amount,
    pricedCalls: 1,
    unpricedCalls,
  });
  expect(
    csvOf([
      { id: 'a', tokens: { input: 1, output: null }, cost: [cost('USD', '0.1', 2)], ids: ['x', '=y'], price: null, end: 1 },
      { id: 'b', tokens: { input: null, output: 3 }, cost: [], ids: [], price: { input: '2' }, end: 2 },
      { id: 'c', tokens: { input: null, output: 3 }, cost: [cost('CNY', '7', 0), cost('USD', '1', 0)], ids: [], price: null, end: 3 },
      { id: 'd', tokens: { input: null, output: 3 }, cost: [cost(null, null, 5)], ids: [], price: null, end: 4 },
    ]),
  ).toBe(
    [
      '\ufeffid,tokens.input,tokens.output,cost.CNY,cost.USD,cost.unpricedCalls,ids,price.input,end',
      'a,1,,,0.1,2,"[""x"",""=y""]",,1',
      'b,,3,,,,,2,2',
      'c,,3,7,1,0,,,3',
      'd,,3,,,5,,,4',
      '',
    ].join('\n'),
  );
});

test('without rows there is a file without any', () => {
  expect(csvOf([])).toBe('\ufeff\n');
});

test('pages are asked for one after the other, until all rows are there or a hundred pages are', async () => {
  const asked: number[] = [];
  const list = (all: number, size: number) => (page: number) => {
    asked.push(page);
    const rows = Array.from({ length: Math.max(0, Math.min(size, all - (page - 1) * size)) }, (_, n) => ({ n: (page - 1) * size + n }));
    return Promise.resolve({ items: rows, total: all });
  };
  expect((await allPages(list(0, 10))).rows).toEqual([]);
  expect((await allPages(list(25, 10))).rows).toEqual(Array.from({ length: 25 }, (_, n) => ({ n })));
  expect(asked).toEqual([1, 1, 2, 3]);
  const { rows, total } = await allPages(list(1_000_000, 100));
  expect([rows.length, total]).toEqual([10_000, 1_000_000]);
});
