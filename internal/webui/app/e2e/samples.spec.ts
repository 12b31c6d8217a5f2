import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { CHAT, CLAUDE, expect, expectAccessible, expectNoSidewaysScroll, test } from './test';

const run = promisify(execFile);

/** Programs that know nothing but what their environment says. */
const tools = {
  'OpenAI SDK': `import OpenAI from 'openai';
    console.log((await new OpenAI().chat.completions.create({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] })).choices[0].message.content);`,
  'Anthropic SDK': `import Anthropic from '@anthropic-ai/sdk';
    console.log((await new Anthropic().messages.create({ model: 'demo', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] })).content[0].text);`,
  'Google SDK': `import { GoogleGenAI } from '@google/genai';
    console.log((await new GoogleGenAI({}).models.generateContent({ model: 'demo', contents: 'Hello' })).text);`,
};

test('samples for SDKs and for a tool that takes only a base URL run as they are copied, with the stock clients', async ({
  page,
  developer,
}) => {
  test.setTimeout(180_000);
  const application = await developer.createApplication('Search');
  const code = page.getByRole('region', { name: 'Code' });
  const [sample, program] = [test.info().outputPath('sample.mjs'), test.info().outputPath('tool.mjs')]; // where their packages are found
  const env = { ...process.env, CALLGATE_KEY: application.accessKey };
  const chosen = async (name: string) => {
    await code.getByRole('button', { name, exact: true }).click();
    await expect(code.locator('pre')).toContainText('/via/demo-');
    return (await code.locator('pre').textContent()) ?? '';
  };
  for (const [capability, path, sent, sdk] of [
    [CHAT, '/v1/chat/completions', '{"model":"demo","messages":[{"role":"user","content":"Hello"}],"stream":false}', 'OpenAI SDK'],
    [CHAT, '/v1/responses', '{"model":"demo","input":"Hello"}', 'OpenAI SDK'],
    [CLAUDE, '/v1/messages', '{"model":"demo","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}', 'Anthropic SDK'],
    [
      CHAT,
      '/v1beta/models/demo:streamGenerateContent?alt=sse',
      '{"contents":[{"role":"user","parts":[{"text":"Hello"}]}],"generationConfig":{"temperature":1}}',
      'Google SDK',
    ],
  ] as const) {
    await page.goto(`/capabilities/${capability}?tab=try&app=${application.id}`);
    await page.getByLabel('Path').fill(path);
    await page.getByLabel('Body (JSON)').fill(sent);
    await writeFile(sample, await chosen(sdk));
    expect((await run(process.execPath, [sample], { env })).stdout, sdk).toContain('You said: Hello');
    const tool = await chosen('Base URL only');
    await writeFile(program, tools[sdk]);
    expect((await run('sh', ['-c', `${tool}\nexec "$0" "$1"`, process.execPath, program], { env })).stdout, `a tool, as ${sdk}`).toContain(
      'You said: Hello',
    );
  }
  await developer.counted(8);
  for (const width of [390, 768, 1024]) {
    await page.setViewportSize({ width, height: 844 });
    await expectNoSidewaysScroll(page);
  }
  await expectAccessible(page);
});
