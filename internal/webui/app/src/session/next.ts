/** Where to go after signing in: a path of this site with one leading slash, nothing else. */
export function localPath(next: string | null, otherwise: string): string {
  return next !== null && /^\/(?![/\\])/.test(next) && !/[\p{Cc}\\]/u.test(next) ? next : otherwise;
}
