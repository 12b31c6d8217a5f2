import { expect, test } from 'vitest';
import { isLostChunk, mayReload, RELOAD_EVERY } from './chunks';

test('a lost file is known by the words of every browser, and nothing else is taken for one', () => {
  for (const text of [
    'Failed to fetch dynamically imported module: http://x/a.js',
    'error loading dynamically imported module: http://x/a.js',
    'Importing a module script failed.',
    'Unable to preload CSS for /assets/a.css',
  ])
    expect(isLostChunk(new TypeError(text)), text).toBe(true);
  for (const other of [new TypeError('x is undefined'), 'Failed to fetch dynamically imported module', null])
    expect(isLostChunk(other)).toBe(false);
});

test('a tab reloads by itself once a minute at most, whatever its name was', () => {
  const now = 1_700_000_000_000;
  const reloaded = (at: number) => `callgate-reloaded-${at}`;
  for (const name of [
    '',
    'named-by-another-site',
    'callgate-reloaded-',
    'callgate-reloaded-x',
    reloaded(now - RELOAD_EVERY),
    reloaded(now + 5000),
  ])
    expect(mayReload(name, now), name).toBe(true);
  for (const name of [reloaded(now), reloaded(now - RELOAD_EVERY + 1)]) expect(mayReload(name, now), name).toBe(false);
});
