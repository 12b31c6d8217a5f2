/** JSON as the failure panel shows it: coloured, folded, and as a request again. */

export type Kind = 'key' | 'string' | 'number' | 'word' | 'mark';
export type Token = readonly [kind: Kind, text: string];

/** More lines than these are folded away at first. */
export const FOLDED = 40;

const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|([^"\d\w-]+|.)/g;

/** The lines of indented JSON, each as its coloured pieces. */
export function lines(json: string): Token[][] {
  return json.split('\n').map((line) =>
    [...line.matchAll(pattern)].flatMap(([, text, colon, number, word, rest]): Token[] => {
      if (text !== undefined)
        return colon === undefined
          ? [['string', text]]
          : [
              ['key', text],
              ['mark', colon],
            ];
      if (number !== undefined) return [['number', number]];
      return word !== undefined ? [['word', word]] : [['mark', rest ?? '']];
    }),
  );
}

const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export type Query = Record<string, string | string[]>;

/** The failed request as a command, with the body's JSON; the key stands for the caller's own. */
export function curl(base: string, request: { method: string; path: string }, query: Query | null, body: string | null): string {
  const search = new URLSearchParams(
    Object.entries(query ?? {}).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value])),
  );
  return [
    `curl -X ${request.method} ${shell(`${base}/gateway${request.path}${search.size > 0 ? `?${search}` : ''}`)}`,
    '  -H "Authorization: Bearer $CALLGATE_KEY"',
    ...(body === null ? [] : ["  -H 'Content-Type: application/json'", `  -d ${shell(body)}`]),
  ].join(' \\\n');
}
