import { expect, test } from 'vitest';
import { linesToShow } from './lines';

const line = (over: object) => ({ model: 'm', tier: null, band: 0 as const, meters: { input: 9, output: 4 }, ...over });

test('lines are shown where they say more than the five numbers', () => {
  expect(linesToShow({ lines: [] })).toEqual([]);
  expect(linesToShow({ lines: [line({})] })).toEqual([]);
  for (const lines of [
    [line({}), line({ model: 'n' })],
    [line({ tier: 'flex' })],
    [line({ band: 200000 })],
    [line({ meters: { input: 9, web_searches: 1 } })],
  ]) {
    expect(linesToShow({ lines })).toEqual(lines);
  }
});
