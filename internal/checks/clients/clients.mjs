// Asks with each stock client, in its defaults, what its user then sees: a line of JSON for each case.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import { Mistral } from '@mistralai/mistralai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { generateText, streamText } from 'ai';
import { CohereClientV2 } from 'cohere-ai';
import Groq from 'groq-sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';

const { BASE, KEY, SPENT, BROKE, UPSTREAM } = process.env;
const messages = [{ role: 'user', content: 'Hello' }];

const chat = (x) => (x.choices[0].delta ?? x.choices[0].message).content;
const sdk = (model, stream) => (stream ? streamText({ model, prompt: 'Hello', onError() {} }).fullStream : generateText({ model, prompt: 'Hello' }));
const text = (x) => x.text;

/** How each is made for a capability and a key, what it asks a model, and where the text of its answer, or of a piece, is. */
const clients = {
  openai: (at, apiKey, model, stream) => [new OpenAI({ baseURL: `${at}/v1`, apiKey }).chat.completions.create({ model, messages, stream }), chat],
  anthropic: (at, apiKey, model, stream) => [new Anthropic({ baseURL: at, apiKey }).messages.create({ model, messages, max_tokens: 9, stream }), (x) => (x.delta ?? x.content?.[0])?.text],
  google: (at, apiKey, model, stream) => [new GoogleGenAI({ apiKey, httpOptions: { baseUrl: at, apiVersion: 'v1beta' } }).models[stream ? 'generateContentStream' : 'generateContent']({ model, contents: 'Hello' }), text],
  mistral: (at, apiKey, model, stream) => [new Mistral({ serverURL: at, apiKey }).chat[stream ? 'stream' : 'complete']({ model, messages }), (x) => chat(x.data ?? x)],
  cohere: (at, token, model, stream) => [new CohereClientV2({ environment: at, token })[stream ? 'chatStream' : 'chat']({ model, messages }), (x) => x.message?.content[0].text ?? x.delta?.message?.content?.text],
  groq: (at, apiKey, model, stream) => [new Groq({ baseURL: at, apiKey }).chat.completions.create({ model, messages, stream }), chat],
  ollama: (at, key, model, stream) => [new Ollama({ host: at, headers: { Authorization: `Bearer ${key}` } }).chat({ model, messages, stream }), (x) => x.message.content],
  'AI SDK, openai': (at, apiKey, model, stream) => [sdk(createOpenAI({ baseURL: `${at}/v1`, apiKey }).chat(model), stream), text],
  'AI SDK, anthropic': (at, apiKey, model, stream) => [sdk(createAnthropic({ baseURL: `${at}/v1`, apiKey })(model), stream), text],
  'AI SDK, google': (at, apiKey, model, stream) => [sdk(createGoogleGenerativeAI({ baseURL: `${at}/v1beta`, apiKey })(model), stream), text],
  langchain: (at, apiKey, model, stream) => [new ChatOpenAI({ model, apiKey, maxRetries: 2, configuration: { baseURL: `${at}/v1` } })[stream ? 'stream' : 'invoke']('Hello'), (x) => x.content],
  bedrock: (at, token, modelId, stream) => [
    // Its own handler speaks HTTP/2 only.
    new BedrockRuntimeClient({ endpoint: at, region: 'none', token: { token }, authSchemePreference: ['httpBearerAuth'], requestHandler: new NodeHttpHandler() })
      .send(new (stream ? ConverseStreamCommand : ConverseCommand)({ modelId, messages: [{ role: 'user', content: [{ text: 'Hello' }] }] }))
      .then((x) => x.stream ?? x),
    (x) => x.output?.message.content[0].text ?? x.contentBlockDelta?.delta.text,
  ],
};

/** The cases: capability, Access Key, what the upstream does, whether a stream is asked for. */
const cases = {
  good: ['stock', KEY, 'good'],
  stranger: ['stock', 'cg-made-up', 'good'],
  unknown: ['nothing', KEY, 'good'],
  unbound: ['demo-chat', KEY, 'good'],
  spent: ['stock', SPENT, 'good'],
  broke: ['stock', BROKE, 'good'],
  failed: ['stock', KEY, 'failed'],
  cut: ['stock', KEY, 'cut', true],
};

// A call is counted where Node makes it, for the case that it is made in.
const running = new AsyncLocalStorage();
for (const made of ['undici:request:create', 'http.client.request.start']) subscribe(made, () => running.getStore() && running.getStore().calls++);
process.on('unhandledRejection', () => {}); // LangChain leaves one behind where a stream breaks off

async function ask(asked, make, [capability, key, model, stream = false]) {
  try {
    const [promise, text] = make(`${BASE}/via/${capability}`, key, model, stream);
    const answer = await promise;
    for await (const piece of stream ? answer : [answer]) {
      const said = text(piece) ?? '';
      asked.said += said;
      if (stream && said) await running.exit(() => fetch(`${UPSTREAM}/cut`)); // now that it has arrived
    }
  } catch (error) {
    const { status, statusCode, status_code, $metadata, lastError } = error;
    asked.status = status ?? statusCode ?? status_code ?? $metadata?.httpStatusCode ?? lastError?.statusCode;
    asked.error = error.message;
  }
  console.log(JSON.stringify(asked));
}

const started = [];
for (const [client, make] of Object.entries(clients))
  for (const [name, how] of Object.entries(cases)) {
    const asked = { client, case: name, calls: 0, said: '' };
    const start = () => running.run(asked, () => ask(asked, make, how));
    if (name === 'cut') await start(); // one at a time
    else started.push(start());
  }
await Promise.all(started);
process.exit(); // whatever connections are kept
