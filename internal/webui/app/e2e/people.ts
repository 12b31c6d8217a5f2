import { randomUUID } from 'node:crypto';
import { expect, type APIRequestContext } from '@playwright/test';
import type { components } from '../src/api/schema';
import { dayOf } from '../src/range/days';

type Schemas = components['schemas'];
export type NewApplication = Schemas['NewApplication'];

/** Capabilities of the demo catalog; their upstream answers demo, demo-slow, demo-cut, demo-error-<status>. */
export const CHAT = 'demo-chat';
export const CLAUDE = 'demo-claude';

/** A client address of its own, because sign-ins of one are limited. */
const address = () => `10.${[0, 0, 0].map(() => 1 + Math.floor(Math.random() * 250)).join('.')}`;

abstract class Person {
  protected token = '';
  private readonly from = { 'X-Real-IP': address() };

  constructor(
    protected readonly request: APIRequestContext,
    readonly base: string,
    readonly email: string,
    private readonly auth: string,
  ) {}

  /** Signs in by the code of a caught mail, another than the `spent` one; the browser of this test gets the session cookie. */
  async signIn(spent = ''): Promise<void> {
    expect((await this.request.post(`${this.base}${this.auth}/code`, { data: { email: this.email }, headers: this.from })).ok()).toBe(true);
    const login = await this.request.post(`${this.base}${this.auth}/login`, {
      data: { email: this.email, code: await mailedCode(this.request, this.base, this.email, spent) },
      headers: this.from,
    });
    expect(login.ok(), await login.text()).toBe(true);
    this.token = ((await login.json()) as { data: { token: string } }).data.token;
  }

  /** The newest code that was mailed to this person. */
  code = () => mailedCode(this.request, this.base, this.email);

  /** Whether the session is still there. */
  isSignedIn = async (): Promise<boolean> =>
    (await this.request.get(`${this.base}/api/auth/me`, { headers: { Authorization: `Bearer ${this.token}` } })).ok();

  /** The cookies of the session, for a browser of its own. */
  state = () => this.request.storageState();

  /** Asks the HTTP API and returns `data`; anything but a success fails the test. */
  async api<T = unknown>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, data?: unknown): Promise<T> {
    const answer = await this.request.fetch(this.base + path, {
      method,
      ...(data === undefined ? {} : { data }),
      headers: { Authorization: `Bearer ${this.token}` },
    });
    expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true);
    return ((await answer.json()) as { data: T }).data;
  }
}

/** The newest code that was mailed to an address, once it is another than the `spent` one. */
export async function mailedCode(request: APIRequestContext, base: string, email: string, spent = ''): Promise<string> {
  let code = '';
  await expect
    .poll(
      async () => {
        const mails = (await (
          await request.get(`${base}/dev/mails?to=${encodeURIComponent(email)}`, { headers: { Accept: 'application/json' } })
        ).json()) as { items: { code: string }[] };
        code = mails.items[0]?.code ?? '';
        return code === spent ? '' : code;
      },
      { message: `a code is mailed to ${email}` },
    )
    .not.toBe('');
  return code;
}

export interface Call {
  /** Capability of the query; CHAT unless said otherwise. Null leaves `model` out. */
  capability?: string | null;
  /** Model of the body: demo, demo-slow, demo-cut, demo-error-429, … */
  model?: string;
  path?: string;
  body?: unknown;
  query?: Record<string, string>;
  /** Content-Type of a body that is given as bytes. */
  type?: string;
  /** Headers beside, such as X-Callgate-Tags. */
  said?: Record<string, string>;
}

/** Calls of one millisecond are listed by their ids, which are random: a test's calls are each of a millisecond of its own. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve));
}

export class Developer extends Person {
  constructor(request: APIRequestContext, base: string, email = `dev-${randomUUID()}@example.com`) {
    super(request, base, email, '/api/auth');
  }

  /** The same person, signed in with another browser as well. */
  async alsoIn(request: APIRequestContext): Promise<Developer> {
    const there = new Developer(request, this.base, this.email);
    await there.signIn(await this.code());
    return there;
  }

  createApplication = (name: string, capabilityIds: string[] = [CHAT, CLAUDE]) =>
    this.api<NewApplication>('POST', '/api/applications', { name, capabilityIds });

  /** Calls through the gateway as a program would; returns status and call id. */
  async call(
    accessKey: string,
    { capability = CHAT, model = 'demo', path = '/v1/chat/completions', body, query = {}, type, said = {} }: Call = {},
  ): Promise<{ status: number; callId: string }> {
    const search = new URLSearchParams({ ...(capability === null ? {} : { model: capability }), ...query });
    try {
      const answer = await this.request.fetch(`${this.base}/gateway${path}?${search}`, {
        method: 'POST',
        data: body ?? { model, messages: [{ role: 'user', content: 'Hello' }] },
        headers: { Authorization: `Bearer ${accessKey}`, Cookie: '', ...(type ? { 'Content-Type': type } : {}), ...said },
      });
      return { status: answer.status(), callId: answer.headers()['x-call-id'] ?? '' };
    } catch {
      return { status: 499, callId: '' }; // the upstream broke the answer off
    } finally {
      await nextMillisecond();
    }
  }

  /** Makes calls one after another: `calls(key, 3)`, `calls(key, 2, { model: 'demo-error-500' })`. */
  async calls(accessKey: string, n: number, call?: Call): Promise<void> {
    for (let made = 0; made < n; made++) await this.call(accessKey, call);
  }

  /** What the server says of one application in the last 7 days. */
  statistics = (id: string) => this.api<Schemas['ApplicationStatistics']>('GET', `/api/statistics/applications/${id}`);

  /** Waits until so many calls of this developer are counted today, and returns the overview. */
  async counted(calls: number): Promise<Schemas['Overview']> {
    const today = dayOf(Date.now());
    const overview = () => this.api<Schemas['Overview']>('GET', `/api/statistics/applications/overview?start=${today}&end=${today}`);
    await expect.poll(async () => (await overview()).calls, { message: `${calls} calls are counted`, timeout: 15_000 }).toBe(calls);
    return overview(); // the first one may have read tokens an instant before calls
  }
}

export class Administrator extends Person {
  constructor(request: APIRequestContext, base: string, email: string) {
    super(request, base, email, '/api/admin/auth');
  }

  adopt(token: string): void {
    this.token = token;
  }

  get currentToken(): string {
    return this.token;
  }
}
