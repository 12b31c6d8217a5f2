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
  startSession('console', () => undefined);
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
