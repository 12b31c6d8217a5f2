import { expect, test } from 'vitest';
import { agreeing, callsPath, chosen, filterOf, nothingChosen, ofDay, read, timely, timeOf, type Choice } from './filter';

const days = { start: '2026-11-19', end: '2026-11-20' };
const all: Choice = {
  application: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3',
  model: 'gpt-5',
  result: 'failure',
  reason: 'upstream_http_error:upstream_status',
  status: 502,
  upstreamStatus: 429,
  text: 'too many',
  message: 'Retry in #',
  key: '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f5',
  tag: 'team:search: 2',
  user: 'ada@example.com',
  from: '14:00',
  to: '15:00',
};

test('a choice that is written into a URL is read from it again', () => {
  for (const choice of [
    all,
    nothingChosen,
    { ...nothingChosen, model: '' },
    { ...nothingChosen, reason: '' },
    { ...nothingChosen, upstreamStatus: 0 },
  ]) {
    expect(read(chosen(new URLSearchParams(), choice))).toEqual({ choice, bad: [] });
  }
});

test('nothing of the default is in the URL; another choice begins at page 1 and keeps the range', () => {
  expect(chosen(new URLSearchParams('range=30d&page=7&until=2026-11-20T00:00:00Z&model=a'), nothingChosen).toString()).toBe('range=30d');
});

test('what a URL says wrongly is named and left out', () => {
  const { choice, bad } = read(
    new URLSearchParams(
      'model=%2F&result=maybe&reason=A&status=99&upstreamStatus=7&text=x&key=mine&tag=Team:x&user=%20ada&from=25:00&to=9',
    ),
  );
  expect(bad).toEqual(['model', 'result', 'reason', 'status', 'upstreamStatus', 'key', 'tag', 'user', 'from']);
  expect(choice).toEqual({ ...nothingChosen, text: 'x', to: '09:00' });
});

test('a success has no reason: of the two, what was chosen last stands', () => {
  expect(agreeing(all, { result: 'success' })).toMatchObject({
    result: 'success',
    reason: null,
    upstreamStatus: null,
    text: '',
    message: null,
  });
  expect(agreeing({ ...nothingChosen, result: 'success' }, { reason: 'timeout' })).toMatchObject({ result: null, reason: 'timeout' });
  expect(read(new URLSearchParams('result=success&text=x')).choice).toMatchObject({ result: null, text: 'x' });
});

test('times of day are taken as people write them', () => {
  expect(['9', '0930', '9:30', '09:30:15', '9：30', '24:00', '14:00:00'].map(timeOf)).toEqual([
    '09:00',
    '09:30',
    '09:30',
    '09:30:15',
    '09:30',
    '24:00',
    '14:00',
  ]);
  expect(['', '25', '24:01', '14:60', 'noon'].map(timeOf)).toEqual([null, null, null, null, null]);
});

test('times are instants of the first and the last Beijing day; the last one may end at its midnight', () => {
  expect(filterOf(days, { ...nothingChosen, from: '14:00', to: '15:00:30' })).toMatchObject({
    from: '2026-11-19T14:00:00+08:00',
    to: '2026-11-20T15:00:30+08:00',
  });
  expect(filterOf(days, { ...nothingChosen, to: '24:00' })).toMatchObject({ from: null, to: '2026-11-21T00:00:00+08:00' });
});

test('times that leave nothing between them count for nothing', () => {
  const one = { start: '2026-11-20', end: '2026-11-20' };
  expect(timely(one, { from: '15:00', to: '15:00' })).toBe(false);
  expect(timely(one, { from: '24:00', to: null })).toBe(false);
  expect(timely(one, { from: null, to: '00:00' })).toBe(false);
  expect(timely(days, { from: '15:00', to: '14:00' })).toBe(true);
  expect(filterOf(one, { ...nothingChosen, from: '15:00', to: '14:00' })).toMatchObject({ from: null, to: null });
});

test('a link to calls carries the range and names only what is chosen', () => {
  expect(callsPath('a', '')).toBe('/applications/a/calls');
  expect(callsPath('a', '?range=30d', { result: 'failure' })).toBe('/applications/a/calls?range=30d&result=failure');
  expect(callsPath('a', ofDay('2026-11-20'), { model: '', reason: '', upstreamStatus: 0 })).toBe(
    '/applications/a/calls?start=2026-11-20&end=2026-11-20&model=&reason=&upstreamStatus=0',
  );
});
