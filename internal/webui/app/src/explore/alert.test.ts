import { expect, test } from 'vitest';
import { watchOf } from './alert';
import type { Exploration } from './queries';
import { read } from './question';

const answer = (value: string | null, currency: string | null = null): Exploration =>
  ({
    currency,
    total: { value: '7' },
    items: [
      { group: 'a', name: 'Search', value },
      { group: 'b', name: 'Ads', value: '1' },
    ],
  }) as unknown as Exploration;
const of = (url: string, value: string | null, days = 7, currency: string | null = null) =>
  watchOf(read(new URLSearchParams(url), 'previous', 'console'), answer(value, currency), days);

test('an alert is suggested half above what is usual, of the first application', () => {
  const found = (url: string, value: string | null, days?: number, currency?: string) => {
    const watch = of(url, value, days, currency);
    return typeof watch === 'string' ? watch : [watch.typed.kind, watch.typed.threshold, watch.typed.currency, watch.rule, watch.name];
  };
  expect(found('metric=failureRate&by=application', '0.0421')).toEqual(['failureRate', '6.4', '', 'half', 'Search']);
  expect(found('metric=failureRate&by=application', '0.001')).toEqual(['failureRate', '1', '', 'half', 'Search']);
  expect(found('metric=failureRate&by=application', '0.9')).toEqual(['failureRate', '100', '', 'half', 'Search']);
  expect(found('metric=failureRate&by=application', null)).toEqual(['failureRate', '20', '', null, 'Search']);
  expect(found('metric=p95&by=application', '1234')).toEqual(['p95', '1900', '', 'half', 'Search']);
  expect(found('metric=tokens&by=application', '70000')).toEqual(['tokens', '15000', '', 'perDay', 'Search']);
  expect(found('metric=cost&by=application', '0.0007', 7, 'USD')).toEqual(['cost', '0.00015', 'USD', 'perDay', 'Search']);
  expect(found('metric=calls&by=application', '10080')).toEqual(['noCalls', '10', '', 'tenfold', 'Search']);
  expect(found('metric=calls&by=application', '1')).toEqual(['noCalls', '1440', '', 'tenfold', 'Search']);
});

test('an alert is of the application that a question is narrowed to, else the question says why there is none', () => {
  const id = '0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3';
  expect(of(`metric=tokens&application=${id}`, '1')).toMatchObject({ typed: { targetId: id, threshold: '2' }, name: null });
  expect(of('metric=p99&by=application', '1')).toBe('metric');
  expect(of('metric=p95&by=application&model=demo', '1')).toBe('narrowed');
  expect(of('metric=p95', '1')).toBe('application');
});
