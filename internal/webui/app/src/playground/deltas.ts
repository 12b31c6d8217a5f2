import { createParser } from 'eventsource-parser';

/** Joins the text that the server-sent events of OpenAI, Anthropic and Google carry, as they come. */
export class Joiner {
  text = '';
  private readonly parser = createParser({ onEvent: ({ data }) => this.add(data) });

  push(chunk: string): void {
    this.parser.feed(chunk);
  }

  /** The last event may lack its end. */
  end(): void {
    this.parser.feed('\n\n');
  }

  private add(data: string): void {
    if (data === '[DONE]') return;
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

/** The code and sentence of an error in OpenAI's, Google's or Ollama's shape, which are also the gateway's own. */
export function errorIn(body: string): { code: string; message: string } | null {
  try {
    const told = record(JSON.parse(body))['error'];
    if (typeof told === 'string' && told !== '') return { code: '', message: told };
    const error = record(told);
    return Object.keys(error).length === 0 ? null : { code: string(error['code']), message: string(error['message']) };
  } catch {
    return null;
  }
}
