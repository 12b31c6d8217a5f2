/**
 * After a release the files of the page before are gone. One reload brings the new page; whether
 * there was one just now stands in the tab's name, which a reload keeps and other tabs do not see.
 */
const mark = 'callgate-reloaded-';

/** Reloads by itself at most once in so many ms: what is still missing then is told. */
export const RELOAD_EVERY = 60_000;

// Words of Chromium, Firefox and Safari, then Vite's own for a style sheet.
const words = /dynamically imported module|module script failed|unable to preload css/i;

export const isLostChunk = (error: unknown): boolean => error instanceof Error && words.test(error.message);

let reloading: Promise<boolean> | null = null;

/**
 * Reloads the page for what was not found. False: it was reloaded for that just now, or the server
 * does not answer, which a reload would turn into the browser's own error page.
 */
export function reloadOnce(): Promise<boolean> {
  return (reloading ??= reload().finally(() => (reloading = null)));
}

async function reload(): Promise<boolean> {
  if (!mayReload(window.name, Date.now())) return false;
  const answers = await fetch('/favicon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!answers) return false;
  window.name = mark + String(Date.now());
  location.reload();
  return new Promise(() => undefined); // this page is over
}

/** Whether a tab of this name was not reloaded lately; a clock that was set back does not count. */
export function mayReload(name: string, now: number): boolean {
  const last = name.startsWith(mark) ? Number(name.slice(mark.length)) : NaN;
  return !(now - last >= 0 && now - last < RELOAD_EVERY);
}
