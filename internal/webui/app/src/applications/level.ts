/** From this share of failed calls on an application is failing, or is to be looked at. */
const FAILING = 0.05;
const SOME = 0.01;

/** How bad a period of an application was: null where it was as it should be, or where nothing was called. */
export function levelOf({ calls, failures }: { calls: number | null; failures: number | null }): 'failed' | 'warn' | null {
  if (!calls || !failures) return null;
  return failures / calls >= FAILING ? 'failed' : failures / calls >= SOME ? 'warn' : null;
}
