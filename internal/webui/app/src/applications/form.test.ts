import { describe, expect, test } from 'vitest';
import { changed, check, isDirty, nothing, oneLine, type Draft } from './form';

const saved: Draft = { name: 'Search', description: 'Finds', capabilityIds: ['gpt', 'claude'] };

describe('what the server would refuse is told before it is asked', () => {
  test('a name has 1 to 64 characters once trimmed', () => {
    expect(check(saved)).toEqual({});
    expect(check({ ...saved, name: '   ' })).toEqual({ name: 'nameMissing' });
    expect(check({ ...saved, name: 'x'.repeat(64) })).toEqual({});
    expect(check({ ...saved, name: `  ${'x'.repeat(64)}  ` })).toEqual({});
    expect(check({ ...saved, name: 'x'.repeat(65) })).toEqual({ name: 'tooLong' });
  });
  test('a character outside the first plane counts once', () => {
    expect(check({ ...saved, name: '🚀'.repeat(64) })).toEqual({});
    expect(check({ ...saved, name: '🚀'.repeat(65) })).toEqual({ name: 'tooLong' });
  });
  test('a description has at most 1,024 characters and no control characters', () => {
    expect(check({ ...saved, description: 'x'.repeat(1024) })).toEqual({});
    expect(check({ ...saved, description: 'x'.repeat(1025) })).toEqual({ description: 'tooLong' });
    expect(check({ ...saved, description: 'two\nlines' })).toEqual({ description: 'control' });
  });
  test('at most 500 capabilities are bound', () => {
    expect(check({ ...saved, capabilityIds: Array.from({ length: 501 }, (_, n) => `c${n}`) })).toEqual({ capabilityIds: 'tooMany' });
  });
});

describe('only what differs is sent', () => {
  test('nothing differs when names differ by blanks and bindings by order', () => {
    expect(changed(saved, { ...saved, name: ' Search ', capabilityIds: ['claude', 'gpt'] })).toEqual({});
    expect(isDirty(saved, { ...saved, capabilityIds: ['claude', 'gpt'] })).toBe(false);
  });
  test('bindings are sent as the complete set', () => {
    expect(changed(saved, { ...saved, capabilityIds: ['gpt'] })).toEqual({ capabilityIds: ['gpt'] });
  });
  test('an emptied description is sent as empty', () => {
    expect(changed(saved, { ...saved, description: '' })).toEqual({ description: '' });
  });
  test('a new draft is dirty from its first letter on', () => {
    expect(isDirty(nothing, nothing)).toBe(false);
    expect(isDirty(nothing, { ...nothing, name: 'x' })).toBe(true);
  });
});

test('pasted lines become one', () => {
  expect(oneLine('a\r\nb\tc d')).toBe('a b c d');
});
