import OpenAI from 'openai';
import type { components } from '../src/api/schema';
import { answer, kinds, type Said } from './clients';
import { CHAT, CLAUDE, expect, test, type Developer } from './test';

type Call = components['schemas']['Call'];

/** Runs with these variables in the environment, which nothing else of this worker reads meanwhile. */
async function withEnv<T>(env: Record<string, string>, run: () => Promise<T>): Promise<T> {
  Object.assign(process.env, env);
  try {
    return await run();
  } finally {
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name);
  }
}

/** The newest calls of an application, once so many are counted. */
async function recorded(developer: Developer, id: string, n: number): Promise<Call[]> {
  await developer.counted(n);
  return (await developer.api<{ items: Call[] }>('GET', `/api/statistics/applications/${id}/calls`)).items;
}

/** The error of what must fail. */
const errorOf = (run: Promise<unknown>) =>
  run.then(
    (value) => {
      throw new Error(`it answers ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );

/** What the console says of a call, in a client's words. */
const counted = (call: Call | undefined) =>
  call && {
    input: call.inputTokens,
    output: call.outputTokens,
    cached: call.cachedTokens,
    state: call.usageState,
    streamed: call.streamed,
    model: call.model,
  };

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name}: a stock client chats, streams and fails as with its provider, and what it says of tokens is what is recorded`, async ({
    developer,
    baseURL,
  }) => {
    const { id, accessKey } = await developer.createApplication('Stock client');
    const [asked, streamed, errors, broken] = await withEnv(kind.env(baseURL!, accessKey), async () => {
      const client = kind.make(baseURL!);
      const said: [Said, Said] = [await client.ask('demo'), await client.stream('demo')];
      return [
        ...said,
        [await errorOf(client.ask('demo-error-400')), await errorOf(client.ask('demo-error-429'))],
        await errorOf(client[kind.strays ? 'ask' : 'stream']('demo-cut')),
      ] as const;
    });
    expect([asked.text, streamed.text]).toEqual([answer, answer]);
    expect(errors.map(kind.status)).toEqual([400, 429]);
    for (const [n, error] of errors.entries())
      expect(String((error as Error).message)).toContain(`This model always answers ${[400, 429][n]}.`);
    expect(broken, 'what breaks off is no answer').toBeInstanceOf(Error);
    const [cut, limited, wrong, stream, plain] = await recorded(developer, id, 5);
    const of = (said: Said, isStream: boolean) => ({
      input: said.input,
      output: said.output,
      cached: said.cached,
      state: 'reported',
      streamed: isStream,
      model: kind.capability,
    });
    if (kind.addsUp) {
      // then we are right, and it is not
      expect(streamed[kind.addsUp]).toBeGreaterThan(counted(stream)![kind.addsUp]!);
      streamed[kind.addsUp] = asked[kind.addsUp];
    }
    expect([counted(plain), counted(stream)]).toEqual([of(asked, false), of(streamed, true)]);
    expect([wrong?.statusCode, limited?.statusCode, cut?.statusCode, cut?.usageState]).toEqual([400, 429, 499, 'partial']);
    const refused = await withEnv(kind.env(baseURL!, 'cg-nobody'), () => errorOf(kind.make(baseURL!).ask('demo')));
    expect(kind.status(refused), String(refused)).toBe(401);
  });
}

test('a stock client lists the capabilities that its key may call, and embeds', async ({ developer, baseURL }) => {
  const { id, accessKey } = await developer.createApplication('Menu');
  const client = await withEnv({ OPENAI_BASE_URL: `${baseURL}/gateway/v1`, OPENAI_API_KEY: accessKey }, async () => new OpenAI());
  const listed = await client.models.list();
  expect(listed.data.map((model) => model.id)).toEqual([CHAT, CLAUDE]);
  expect(listed.data[0]!.created).toBeGreaterThan(1.7e9);
  const embedding = await client.embeddings.create({ model: 'demo', input: ['one two', 'three'] }, { query: { model: CHAT } });
  expect(embedding.data.map((one) => one.embedding.length)).toEqual([8, 8]);
  const calls = await recorded(developer, id, 1); // the list is none
  expect(calls.map((call) => call.inputTokens)).toEqual([embedding.usage.prompt_tokens]);
});
