import { expect, test } from 'vitest';
import { adds, asked, choiceOf, figuresOf, kindOf, METRICS, narrowedTo, next, read, readsMuch } from './question';

const ask = (search: string) => read(new URLSearchParams(search), 'previous', 'console');

test('a URL without a question asks for calls by capability, against the days before', () => {
  expect(ask('')).toEqual({ site: 'console', metric: 'calls', by: 'capability', tag: 'team', compare: 'previous', only: {} });
  expect(asked(ask(''))).toEqual({ metric: 'calls', groupBy: 'capability', compare: 'previous' });
});

test('what a URL says is asked of the API, and what it says wrongly counts for nothing', () => {
  const id = '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f5';
  expect(
    asked(ask(`metric=cost&by=tag:feature&compare=month&application=${id}&model=&status=429&tag=team:a:b&user=ada&result=failure`)),
  ).toEqual({
    metric: 'cost',
    groupBy: 'tag:feature',
    compare: 'month',
    application: [id],
    model: '',
    status: 429,
    tag: ['team:a:b'],
    user: 'ada',
    result: 'failure',
  });
  expect(
    asked(ask('metric=smell&by=tag:Team&compare=off&application=mine&status=99&tag=Team:x&user=%20ada&result=maybe&key=k&reason=A')),
  ).toEqual({
    metric: 'calls',
    groupBy: 'capability',
  });
});

test('a group narrows the question to its calls, where that can be asked', () => {
  const of = (by: string, group: string) => narrowedTo(ask(`by=${by}`), group);
  expect(of('application', 'a')).toEqual({ application: 'a' });
  expect(of('capability', '')).toEqual({ model: '' });
  expect(of('tag:team', 'search')).toEqual({ tag: 'team:search' });
  expect(of('reason', '')).toEqual({ result: 'success' });
  expect(of('reason', 'timeout:caller_timeout')).toEqual({ reason: 'timeout:caller_timeout' });
  for (const by of ['tag:team', 'key', 'user']) expect(of(by, '')).toBeNull();
  for (const by of ['upstreamModel', 'endedBy']) expect(of(by, 'x')).toBeNull();
  expect(choiceOf({ model: 'gpt', status: '502', tag: 'team:search' })).toEqual({ model: 'gpt', status: 502, tag: 'team:search' });
  expect([next('capability'), next('tag')]).toEqual(['application', 'capability']);
});

test('each metric has a unit, and only counts and costs add up', () => {
  expect(METRICS.filter((metric) => !adds(metric))).toEqual([
    'failureRate',
    'p50',
    'p95',
    'p99',
    'firstByteP50',
    'firstByteP95',
    'firstByteP99',
  ]);
  expect([kindOf('cost'), kindOf('failureRate'), kindOf('firstByteP95'), kindOf('outputTokens')]).toEqual([
    'money',
    'rate',
    'duration',
    'count',
  ]);
});

test('a month is compared with the one before unless the URL says otherwise', () => {
  const of = (search: string) => read(new URLSearchParams(search), 'month', 'console').compare;
  expect([of(''), of('compare=previous'), of('compare=off'), of('compare=x')]).toEqual(['month', 'previous', null, 'month']);
});

test('the office asks by owners and upstreams, of no keys, tags and users, and leads to its figures', () => {
  const office = (search: string) => read(new URLSearchParams(search), 'previous', 'office');
  const id = '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f5';
  expect(office(`by=owner&owner=${id}&key=${id}&tag=a:b&user=u`)).toMatchObject({ by: 'owner', only: { owner: id } });
  for (const by of ['tag:team', 'user', 'key']) expect(office(`by=${by}`).by).toBe('capability');
  expect(ask(`by=owner&owner=${id}`)).toMatchObject({ by: 'capability', only: {} });
  expect(narrowedTo(office('by=owner'), 'o')).toEqual({ owner: 'o' });
  expect(narrowedTo(office('by=upstream'), 'eu')).toBeNull();
  const lead = (by: string, group: string) => figuresOf(office(`by=${by}`), group, 'start=a&end=b');
  expect(lead('capability', 'a/b')).toBe('/admin/capabilities/a%2Fb/figures?start=a&end=b');
  expect(lead('owner', 'o')).toBe('/admin/usage?start=a&end=b&by=applications&owner=o');
  expect(lead('upstream', '')).toBeNull();
  expect(lead('status', '200')).toBeNull();
});

test.each([
  ['metric=p95', false],
  ['metric=p95&result=failure', true],
  ['metric=p95&by=owner', true],
  ['metric=firstByteP95', true],
  ['metric=cost&by=owner', false],
  ['by=upstream', true],
])('%s reads much of everyone: %s', (search, much) => {
  expect(readsMuch(read(new URLSearchParams(search), 'previous', 'office'))).toBe(much);
});

test.each([
  ['metric=p95&by=application', false],
  ['metric=p95&by=key', true],
  ['metric=p95&key=0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f5', true],
  ['metric=firstByteP95', true],
  ['metric=cost&by=key', false],
  ['by=user', true],
  ['tag=team:a', true],
])('%s reads every call of an owner: %s', (search, much) => {
  expect(readsMuch(ask(search))).toBe(much);
});
