import { expect, test } from 'vitest';
import { fileOf, type Row } from './invoice';

const row = (name: string): Row => ({
  date: '2026-10-04',
  model: name,
  capability: name,
  calls: [3, 2, -1],
  input: [null, null, null],
  output: [null, null, null],
  cached: [null, null, null],
  cost: [{ currency: 'USD', ours: '1.5', theirs: '0.25', difference: '-1.25' }],
  partial: 0,
  absent: 0,
  unpriced: 0,
});

test('a saved file says that it is UTF-8, and no cell of it is a formula', () => {
  const file = fileOf([row('通义"千问"')]);
  expect(file.startsWith('\ufeffdate,model,')).toBe(true);
  expect(file).toContain('2026-10-04,"通义""千问""","通义""千问""",3,2,-1,,,,,,,,,,USD,1.5,0.25,-1.25,0,0,0\r\n');
  for (const name of ['=1+1', '+x', '-x', '@SUM(1)', '\t=1', '\n', '＝1', '＋x', '－x', '＠x', ' =1', '\u200b=1']) {
    expect(fileOf([row(name)]).split(`'${name}`)).toHaveLength(3);
  }
});
