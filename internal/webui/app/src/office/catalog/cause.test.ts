import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { causeOf } from './cause';

test('every sentence that a gateway says of an upstream has its words', () => {
  const source = ['cause.go', 'choice.go']
    .map((name) => readFileSync(resolve(import.meta.dirname, '../../../../../gateway', name), 'utf8'))
    .join('\n');
  const said = [...source.matchAll(/(?:return|blame\(\d,) "(it [^"]+|its [^"]+|TLS failed)"/g)].map(([, sentence]) => sentence!);
  expect(said.length).toBeGreaterThan(10);
  const told = said.map((sentence) => (sentence.endsWith(' ') ? `${sentence}503` : sentence));
  expect(told.filter((sentence) => causeOf(sentence) === null)).toEqual([]);
});

test('an answer names its status, and what nobody foresaw stays as it is', () => {
  expect(causeOf('it answered 503')).toEqual({ cause: 'answered', status: '503' });
  expect(causeOf('no route to host')).toBeNull();
});
