// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';

class Channel {
  static sent: string[] = [];
  onmessage = null;
  postMessage(word: string): void {
    Channel.sent.push(word);
  }
}

afterEach(() => vi.unstubAllGlobals());

test('a renewal under way when somebody signs out does not sign in again', async () => {
  const { currentToken, renew, signIn, signOut, startSession } = await import('./session');
  const waiting: ((answer: Response) => void)[] = [];
  const issued = (): Response => Response.json({ data: { token: 'a.e30.c', user: { id: '1', email: 'dev@example.com' } } });
  vi.stubGlobal('BroadcastChannel', Channel);
  vi.stubGlobal('fetch', (url: string) =>
    url.endsWith('/token') ? new Promise<Response>((answer) => waiting.push(answer)) : Promise.resolve(issued()),
  );
  startSession('console');
  waiting.shift()!(issued());
  await renew();
  await signIn('dev@example.com', '123456');
  expect(currentToken()).not.toBe('');

  const renewal = renew();
  await signOut();
  Channel.sent = [];
  waiting.shift()!(issued());
  expect(await renewal).toBe(false);
  expect(currentToken()).toBe('');
  expect(Channel.sent).toEqual([]);
});

test('who signs in after somebody left has renewals of their own', async () => {
  vi.resetModules();
  const { currentToken, renew, signIn, signOut, startSession } = await import('./session');
  const waiting: ((answer: Response) => void)[] = [];
  const issued = (token: string): Response => Response.json({ data: { token, user: { id: '1', email: 'dev@example.com' } } });
  vi.stubGlobal('BroadcastChannel', Channel);
  vi.stubGlobal('fetch', (url: string) =>
    url.endsWith('/token') ? new Promise<Response>((answer) => waiting.push(answer)) : Promise.resolve(issued('b.e30.c')),
  );
  startSession('console');
  waiting.shift()!(issued('a.e30.c'));
  await renew();

  const former = renew(); // under way while its person leaves and the next one comes
  await signOut();
  await signIn('dev@example.com', '123456');
  const theirs = renew();
  expect(waiting).toHaveLength(2);
  waiting.shift()!(issued('a.e30.c'));
  expect(await former).toBe(false);
  expect(renew()).toBe(theirs); // not cleared by the end of the former
  waiting.shift()!(issued('d.e30.c'));
  expect(await theirs).toBe(true);
  expect(currentToken()).toBe('d.e30.c');
});
