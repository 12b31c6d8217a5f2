/** Reads server-sent events as they come and joins the text that OpenAI's, Anthropic's and Google's carry. */
export class Joiner {
  text = '';
  private rest = '';

  push(chunk: string): void {
    const lines = (this.rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  /** The last line may lack its end. */
  end(): void {
    this.line(this.rest);
    this.rest = '';
  }

  private line(line: string): void {
    if (!line.startsWith('data:')) return;
    const data = line.slice(5).trim();
    if (data === '' || data === '[DONE]') return;
    try {
      this.text += delta(JSON.parse(data) as Json);
    } catch {
      // An event that is no JSON is shown in the raw answer only.
    }
  }
}

interface Json {
  [key: string]: unknown;
}

const record = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : []);
const string = (value: unknown): string => (typeof value === 'string' ? value : '');

function delta(event: Json): string {
  if (event['type'] === 'response.output_text.delta') return string(event['delta']);
  if (event['type'] === 'content_block_delta') return string(record(event['delta'])['text']);
  if (Array.isArray(event['candidates'])) return candidateText(event);
  return list(event['choices'])
    .filter((choice) => (choice['index'] ?? 0) === 0)
    .map((choice) => string(record(choice['delta'])['content']) || string(choice['text']))
    .join('');
}

/** The text of the first of Google's candidates. */
const candidateText = (answer: Json): string =>
  list(record(list(answer['candidates'])[0]?.['content'])['parts'])
    .map((part) => string(part['text']))
    .join('');

/** The text of a whole answer in either shape; empty when there is none to be found. */
export function answerText(body: string): string {
  try {
    const answer = record(JSON.parse(body));
    const [choice] = list(answer['choices']);
    if (choice) return string(record(choice['message'])['content']) || string(choice['text']);
    if (Array.isArray(answer['candidates'])) return candidateText(answer);
    const parts = [...list(answer['content']), ...list(answer['output']).flatMap((item) => list(item['content']))];
    return parts.map((part) => string(part['text'])).join('');
  } catch {
    return '';
  }
}

/** The code and sentence of an error in OpenAI's shape, which is also the gateway's own. */
export function errorIn(body: string): { code: string; message: string } | null {
  try {
    const error = record(record(JSON.parse(body))['error']);
    return Object.keys(error).length === 0 ? null : { code: string(error['code']), message: string(error['message']) };
  } catch {
    return null;
  }
}
