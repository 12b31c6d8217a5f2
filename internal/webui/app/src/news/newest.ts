/** The day of the newest entry of news.ts: with it what was not yet seen is known before the page of news is fetched. */
export const NEWEST = '2026-11-29';
