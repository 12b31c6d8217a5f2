import { expect, test } from 'vitest';
import paths from '../routes.json';
import { news } from './news';
import { NEWEST } from './newest';

test('entries stand by their day, the newest first, one a day', () => {
  const days = news.map(({ day }) => day);
  expect(days[0]).toBe(NEWEST);
  expect(days).toEqual([...new Set(days)].sort().reverse());
});

test('every item has its words in both languages, short, and leads to a page of its site', () => {
  for (const entry of news)
    for (const site of ['console', 'office'] as const)
      for (const { words, to } of entry[site]) {
        for (const [language, [title, text]] of Object.entries(words)) {
          expect(title.length * text.length, title).toBeGreaterThan(0);
          expect(text.length, title).toBeLessThan(260);
          expect(/[\u4e00-\u9fff]/.test(text), title).toBe(language === 'zh-CN');
        }
        if (to === undefined) continue;
        if (site === 'console') expect(Object.values(paths)).toContain(to);
        else expect(to).toMatch(/^\/admin(\/|$)/);
      }
});
