import { exact, written } from '../json/exact';
import { headersOf, methodOf, parsed, streams, target, type Draft } from './request';

export const languages = ['curl', 'python', 'javascript', 'go'] as const;
export type SampleLanguage = (typeof languages)[number];

interface Request {
  url: string;
  method: string;
  headers: [string, string][];
  body: string;
  stream: boolean;
}

/** The request as a program that runs with what its language brings; the key comes from CALLGATE_KEY. */
export function sample(language: SampleLanguage, base: string, capabilityId: string, draft: Draft): string {
  const request: Request = {
    url: target(base, draft.path, capabilityId),
    method: methodOf(draft),
    headers: Object.entries(headersOf(draft)),
    body: draft.body.trim(),
    stream: streams(draft.body) === true,
  };
  return writers[language](request);
}

const writers: Record<SampleLanguage, (request: Request) => string> = { curl, python, javascript, go };

const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const quoted = (text: string): string => JSON.stringify(text);

function curl({ url, method, headers, body, stream }: Request): string {
  return [
    `curl ${stream ? '-N ' : ''}${method === (body === '' ? 'GET' : 'POST') ? '' : `-X ${method} `}${shell(url)}`,
    '  -H "Authorization: Bearer $CALLGATE_KEY"',
    ...headers.map(([name, value]) => `  -H ${shell(`${name}: ${value}`)}`),
    ...(body === '' ? [] : [`  -d ${shell(body)}`]),
  ].join(' \\\n');
}

// JSON with Python's words for true, false and null; numbers and layout stay as they were typed.
export const literal = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => {
    if (!token.startsWith('"')) return { true: 'True', false: 'False', null: 'None' }[token] ?? token;
    try {
      return JSON.stringify(JSON.parse(token));
    } catch {
      return token;
    }
  });

function python({ url, method, headers, body, stream }: Request): string {
  return [
    'import json, os, urllib.request',
    '',
    ...(body === '' ? [] : [`body = ${literal(body)}`, '']),
    'request = urllib.request.Request(',
    `    ${quoted(url)},`,
    ...(body === '' ? [] : ['    data=json.dumps(body).encode(),']),
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["CALLGATE_KEY"],',
    ...headers.map(([name, value]) => `        ${quoted(name)}: ${quoted(value)},`),
    '    },',
    `    method=${quoted(method)},`,
    ')',
    'with urllib.request.urlopen(request) as response:',
    ...(stream
      ? ['    for line in response:', '        print(line.decode(), end="", flush=True)']
      : ['    print(response.read().decode())']),
  ].join('\n');
}

// JavaScript would round numbers of many digits, so such a body stays text.
function javascriptBody(body: string): string {
  const text = parsed(body) === undefined ? body : written(exact(body));
  return text === JSON.stringify(parsed(body)) ? `JSON.stringify(${body.replaceAll('\n', '\n  ')})` : quoted(text);
}

function javascript({ url, method, headers, body, stream }: Request): string {
  return [
    `const response = await fetch(${quoted(url)}, {`,
    `  method: ${quoted(method)},`,
    '  headers: {',
    '    Authorization: `Bearer ${process.env.CALLGATE_KEY}`,',
    ...headers.map(([name, value]) => `    ${/^\w+$/.test(name) ? name : quoted(name)}: ${quoted(value)},`),
    '  },',
    ...(body === '' ? [] : [`  body: ${javascriptBody(body)},`]),
    '});',
    ...(stream
      ? ['for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {', '  process.stdout.write(chunk);', '}']
      : ['console.log(await response.text());']),
  ].join('\n');
}

const goString = (text: string): string => (text.includes('`') || text.includes('\r') ? quoted(text) : `\`${text}\``);

function go({ url, method, headers, body }: Request): string {
  return [
    'package main',
    '',
    'import (',
    ...['"io"', '"log"', '"net/http"', '"os"', ...(body === '' ? [] : ['"strings"'])].map((name) => `\t${name}`),
    ')',
    '',
    'func main() {',
    ...(body === '' ? [] : [`\tbody := strings.NewReader(${goString(body)})`]),
    `\trequest, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, ${body === '' ? 'nil' : 'body'})`,
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("CALLGATE_KEY"))',
    ...headers.map(([name, value]) => `\trequest.Header.Set(${quoted(name)}, ${quoted(value)})`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tif _, err := io.Copy(os.Stdout, response.Body); err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '}',
  ].join('\n');
}
