import { ApiError, errorOf, unreachable } from '../api/error';

/** Which of the two sites this page belongs to: each has its own token and cookie. */
export type Site = 'console' | 'office';

export interface Who {
  /** Absent for administrators. */
  id?: string;
  email: string;
}

/**
 * starting: the cookie is being asked for a token; offline: it could not be asked;
 * expired: the session ended under an open page, which waits behind a sign-in dialog.
 */
export interface Session {
  state: 'starting' | 'offline' | 'in' | 'expired' | 'out';
  who: Who | null;
  /** Why nobody is signed in, where somebody was: the session ended, or was left here or in another tab. */
  why?: 'ended' | 'left' | 'otherTab';
}

interface Issued {
  token: string;
  user?: { id: string; email: string };
  admin?: { email: string };
}

// The cookie was there, but its session is over.
const SESSION_ENDED = 40102;

let site: Site = 'console';
let turn = 0; // counts the people who left this page
let base = '/api/auth';
let channel: BroadcastChannel | null = null;
let session: Session = { state: 'starting', who: null };
let token = ''; // only here: nothing of the page keeps it
let renewal: Promise<boolean> | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let forget: () => void = () => undefined;
const listeners = new Set<() => void>();

function become(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

/** Drops what the page remembers of a user, once they leave. */
export function onForget(drop: () => void): void {
  forget = drop;
}

/** Begins with the cookie. */
export function startSession(of: Site): void {
  site = of;
  base = site === 'office' ? '/api/admin/auth' : '/api/auth';
  channel = new BroadcastChannel(`callgate-${site}`);
  channel.onmessage = (event: MessageEvent<'in' | 'out'>) => {
    if (event.data === 'out') leave('otherTab');
    if (event.data === 'in' && session.state !== 'in') void renew().catch(() => undefined);
  };
  void renew();
}

export const currentToken = (): string => token;

export const currentSite = (): Site => site;

/** Whose requests these are: another number after somebody left, though the next may be the same person. */
export const currentTurn = (): number => turn;

export const currentSession = (): Session => session;

/** Calls back after each change, until what it returns is called. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function post(path: string, body?: object): Promise<unknown> {
  try {
    const headers: Record<string, string> = { 'Accept-Language': document.documentElement.lang };
    if (body) headers['Content-Type'] = 'application/json';
    const response = await fetch(base + path, { method: 'POST', headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw await errorOf(response);
    return ((await response.json()) as { data: unknown }).data;
  } catch (cause) {
    throw unreachable(cause);
  }
}

/**
 * Asks for a fresh token, once however many ask. False: the session is over. A server that cannot
 * be asked throws and changes nothing for a page that is already open.
 */
export function renew(): Promise<boolean> {
  if (renewal) return renewal;
  const mine = (async () => {
    const of = turn;
    try {
      const issued = (await post('/token')) as Issued;
      if (turn !== of) return false; // somebody left meanwhile, and must not be signed in again
      take(issued);
      return true;
    } catch (error) {
      if (turn !== of) return false;
      if (error instanceof ApiError && error.status === 401) {
        token = '';
        if (session.who) become({ ...session, state: 'expired' });
        else become({ state: 'out', who: null, ...(error.code === SESSION_ENDED ? { why: 'ended' } : {}) });
        return false;
      }
      if (!session.who) become({ state: 'offline', who: null });
      throw error;
    }
  })();
  renewal = mine;
  const over = (): void => {
    if (renewal === mine) renewal = null; // the next person may have one of their own by now
  };
  mine.then(over, over);
  return mine;
}

function take(issued: Issued): void {
  const who: Who | undefined = issued.user ?? issued.admin;
  if (!who) throw new ApiError(0, 0, '');
  if (session.who && session.who.email !== who.email) {
    location.reload(); // somebody else's page must not stay
    return;
  }
  token = issued.token;
  // A company sign-in comes back to a page of its own; those that wait for it go on.
  if (session.state !== 'in') channel?.postMessage('in');
  clearTimeout(timer);
  timer = setTimeout(() => void renew().catch(() => undefined), renewIn(token));
  become({ state: 'in', who });
}

// At 80 % of the token's life, told by the token itself: the clock here may be wrong.
function renewIn(jwt: string): number {
  try {
    const claims = JSON.parse(atob(jwt.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))) as { iat: number; exp: number };
    return Math.min((claims.exp - claims.iat) * 800, 2 ** 31 - 1);
  } catch {
    return 10 * 60_000;
  }
}

/** Sends a code; the answer is the same for every address. */
export async function sendCode(email: string): Promise<void> {
  await post('/code', { email });
}

/** Signs in, on the sign-in page or in the dialog over an open one. */
export async function signIn(email: string, code: string): Promise<void> {
  take((await post('/login', { email, code })) as Issued);
}

/** Ends the session here and in the other tabs. */
export async function signOut(): Promise<void> {
  await post('/logout').catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });
  channel?.postMessage('out');
  leave('left');
}

function leave(why: 'left' | 'otherTab'): void {
  turn++;
  token = '';
  renewal = null; // one under way is of who has left
  clearTimeout(timer);
  become({ state: 'out', who: null, why });
  forget();
}

/** Resolves when the dialog signed the same user in again; rejects once somebody has left. */
export function signedInAgain(): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      if (session.state === 'in') resolve();
      else if (session.state === 'out') reject(new ApiError(401, SESSION_ENDED, ''));
      else return false;
      return true;
    };
    if (look()) return;
    const stop = subscribe(() => look() && stop());
  });
}
