import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { languages, sample, type SampleLanguage } from './samples';

const nasty =
  '{\n  "model": "m",\n  "true": [true, false, null, 12345678901234567890, 1e400],\n  "text": "it\'s \\"null\\" $HOME `x` \\\\ \\u4f60 \\ud83d\\ude00 </script> \'\'\' \\/ %s {{x}}",\n  "stream": true\n}';
const written = (language: SampleLanguage, body = nasty, path = '/v1/chat/completions') =>
  sample(language, 'https://gate.example', 'gpt-5', { path, body });

test('each sample names the address, takes the key from the environment and holds no other', () => {
  for (const language of languages) {
    expect(written(language)).toContain('https://gate.example/gateway/v1/chat/completions?model=gpt-5');
    expect(written(language)).toMatch(/CALLGATE_KEY/);
  }
});

test('samples follow what is edited', () => {
  for (const language of languages) {
    expect(written(language, '{"a":1}', '/v1/messages')).toContain('/gateway/v1/messages?model=gpt-5');
    expect(written(language, '{"a":1}', '/v1/messages')).toContain('2023-06-01');
    expect(written(language, '', '/v1/models')).not.toMatch(/Content-Type|body/);
  }
});

test('the shell gives curl the body as it was typed', () => {
  const { stdout } = spawnSync(
    'sh',
    [
      '-c',
      written('curl')
        .replace(/^curl/, `printf '%s\\n'`)
        .replace(/^(printf \S+) -N/, '$1'),
    ],
    { encoding: 'utf8', env: { CALLGATE_KEY: 'k' } },
  );
  expect(stdout).toBe(
    `https://gate.example/gateway/v1/chat/completions?model=gpt-5\n-H\nAuthorization: Bearer k\n-H\nContent-Type: application/json\n-d\n${nasty}\n`,
  );
});

test('JavaScript gets the same value', () => {
  const sent = (source: string) => new Function(`return ${/body: ([^]*),\n\}\);/.exec(source)![1]!}`)() as string;
  const small = nasty.replace('12345678901234567890, 1e400', '1');
  expect(written('javascript', small)).toContain('body: JSON.stringify({');
  expect(JSON.parse(sent(written('javascript', small)))).toEqual(JSON.parse(small));
  expect(JSON.parse(sent(written('javascript')))).toEqual(JSON.parse(nasty));
  expect(sent(written('javascript'))).toContain('12345678901234567890,1e400'); // not rounded
});

test('Python gets the same value', () => {
  const source = /body = ([^]*?)\n\nrequest/.exec(written('python'))![1]!;
  expect(source).toContain('[True, False, None, 12345678901234567890, 1e400]');
  expect(source).toContain(JSON.stringify((JSON.parse(nasty) as { text: string }).text));
  expect(source).toContain('"true":');
});

test('Go quotes what a raw string cannot hold', () => {
  expect(written('go', '{"a":"`"}')).toContain('strings.NewReader("{\\"a\\":\\"`\\"}")');
  expect(written('go', '{"a":"b"}')).toContain('strings.NewReader(`{"a":"b"}`)');
  expect(written('go', '')).not.toContain('strings');
});
