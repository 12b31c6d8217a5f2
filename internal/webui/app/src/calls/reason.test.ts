import { expect, test } from 'vitest';
import { curl, FOLDED, lines } from './json';
import { everyCall } from './filter';
import { csvAddress } from './queries';
import { askedFor, closest, fixOf } from './reason';

test('each reason leads to the click that mends it', () => {
  expect(fixOf('application_disabled')).toBe('enable');
  expect(fixOf('key_expired')).toBe('keys');
  expect(fixOf('address_not_allowed')).toBe('keys');
  expect(fixOf('capability_not_bound')).toBe('bind');
  expect(fixOf('capability_disabled')).toBe('sameGroup');
  expect(fixOf('capability_unknown')).toBe('closest');
  expect(fixOf('model_required')).toBe('example');
  expect(fixOf('upstream_status')).toBe('try');
  expect(fixOf('rate_limited')).toBe('limits');
  expect(fixOf('concurrency_limited')).toBe('limits');
  expect(fixOf('quota_exhausted')).toBe('limits');
  expect(fixOf('budget_exceeded')).toBe('budgets');
  expect(fixOf('cost_unknown')).toBe('budgets');
  expect(fixOf('client_closed')).toBe('none');
});

test('a capability that is not known is read from the query', () => {
  expect(askedFor('demo-chat', { model: 'other' })).toBe('demo-chat');
  expect(askedFor('', { model: 'demo-caht' })).toBe('demo-caht');
  expect(askedFor('', { model: ['a', 'b'] })).toBe('a');
  expect(askedFor('', null)).toBe('');
});

test('the closest identifiers come first, and none that is far', () => {
  expect(closest('demo-caht', ['demo-claude', 'demo-chat', 'x'])).toEqual(['demo-chat', 'demo-claude']);
  expect(closest('chat', ['demo-chat', 'embedding'])).toEqual(['demo-chat']);
  expect(closest('zzzzzzzz', ['demo-chat'])).toEqual([]);
});

test('every character of the body is shown, in its colour', () => {
  const value = { a: 'x: "y" \\ 1', n: -1.5e3, list: [true, null, {}], text: '中文 null' };
  const shown = lines(JSON.stringify(value, null, 2));
  expect(shown.map((line) => line.map(([, text]) => text).join('')).join('\n')).toBe(JSON.stringify(value, null, 2));
  expect(shown[1]!.filter(([kind]) => kind !== 'mark')).toEqual([
    ['key', '"a"'],
    ['string', '"x: \\"y\\" \\\\ 1"'],
  ]);
  expect(shown[2]!.filter(([kind]) => kind === 'number')).toEqual([['number', '-1500']]);
  expect(
    shown
      .flat()
      .filter(([kind]) => kind === 'word')
      .map(([, text]) => text),
  ).toEqual(['true', 'null']);
  expect(
    lines(
      JSON.stringify(
        Array.from({ length: 60 }, (_, n) => n),
        null,
        2,
      ),
    ).length,
  ).toBeGreaterThan(FOLDED);
});

test('the copied request holds a placeholder for the key, and quotes cannot leave their argument', () => {
  expect(curl('https://api.example.com', { method: 'POST', path: '/v1/chat' }, { model: 'a b', tag: ['1', '2'] }, '{"text":"it\'s"}')).toBe(
    `curl -X POST 'https://api.example.com/gateway/v1/chat?model=a+b&tag=1&tag=2' \\\n  -H "Authorization: Bearer $CALLGATE_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"text":"it'\\''s"}'`,
  );
  expect(curl('http://x', { method: 'GET', path: '/m' }, null, null)).toBe(
    `curl -X GET 'http://x/gateway/m' \\\n  -H "Authorization: Bearer $CALLGATE_KEY"`,
  );
});

test('the download has the filter of the list: no model is not the empty model', () => {
  const filter = everyCall('2026-11-21');
  expect(csvAddress({ applicationId: 'i' }, filter)).toBe('/api/statistics/applications/i/calls.csv?start=2026-11-21&end=2026-11-21');
  expect(csvAddress({ applicationId: 'i' }, { ...filter, model: '', result: 'failure' })).toBe(
    '/api/statistics/applications/i/calls.csv?start=2026-11-21&end=2026-11-21&model=&result=failure',
  );
  expect(csvAddress({ size: 25 }, { ...filter, application: 'i', status: 502 })).toBe(
    '/api/statistics/calls.csv?start=2026-11-21&end=2026-11-21&status=502&application=i',
  );
});
