import { expect, test } from 'vitest';
import { localPath } from './next';

test('signing in never leads to another site', () => {
  for (const good of ['/', '/applications?range=30d', '/capabilities/a%2Fb']) expect(localPath(good, '/x')).toBe(good);
  for (const bad of [
    null,
    '',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    'applications',
  ])
    expect(localPath(bad, '/x'), String(bad)).toBe('/x');
});
