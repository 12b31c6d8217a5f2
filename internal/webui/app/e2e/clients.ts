import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { ApiError, GoogleGenAI, type GenerateContentResponse } from '@google/genai';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessageChunk } from '@langchain/core/messages';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, streamText, type LanguageModel, type LanguageModelUsage } from 'ai';
import OpenAI from 'openai';

/** What a client object says of an answer. Input includes what a cache had, output what was thought. */
export interface Said {
  text: string;
  input: number | undefined;
  output: number | undefined;
  cached: number | undefined;
}

/** A client as its provider publishes it, for one model of the demo upstream. */
export interface Client {
  ask(model: string): Promise<Said>;
  stream(model: string): Promise<Said>;
}

export interface Kind {
  /** What the environment says, for a gateway and a key; all that is set up. */
  env(base: string, key: string): Record<string, string>;
  capability: string;
  make(base: string): Client;
  /** What the client adds up from event to event of a stream, although its provider tells the sum each time. */
  addsUp?: 'output' | 'cached';
  /** A stream that breaks off leaves a rejected promise behind in the client, which ends a program of Node. */
  strays?: boolean;
  /** The status in an error that is the client's own for an answer of its provider. */
  status(error: unknown): number | undefined;
}

const system = 'Be brief please';
const user = 'Hello there my friend';
export const answer = `You said: ${user}`;

const via = (base: string, capability: string, rest = '') => `${base}/via/${capability}${rest}`;
const CHAT = 'demo-chat';
const CLAUDE = 'demo-claude';

const openaiEnv = (base: string, key: string) => ({ OPENAI_BASE_URL: via(base, CHAT, '/v1'), OPENAI_API_KEY: key });
const anthropicEnv = (base: string, key: string) => ({ ANTHROPIC_BASE_URL: via(base, CLAUDE), ANTHROPIC_API_KEY: key });
const messages = [
  { role: 'system' as const, content: system },
  { role: 'user' as const, content: user },
];

const openaiStatus = (error: unknown) =>
  error instanceof OpenAI.BadRequestError || error instanceof OpenAI.AuthenticationError || error instanceof OpenAI.RateLimitError
    ? error.status
    : undefined;
const anthropicStatus = (error: unknown) =>
  error instanceof Anthropic.BadRequestError || error instanceof Anthropic.AuthenticationError || error instanceof Anthropic.RateLimitError
    ? error.status
    : undefined;

const chat = (): Client => {
  const client = new OpenAI();
  const said = (text: string, usage: OpenAI.CompletionUsage | null | undefined): Said => ({
    text,
    input: usage?.prompt_tokens,
    output: usage?.completion_tokens,
    cached: usage?.prompt_tokens_details?.cached_tokens,
  });
  return {
    async ask(model) {
      const { choices, usage } = await client.chat.completions.create({ model, messages }, { maxRetries: 0 });
      return said(choices[0]?.message.content ?? '', usage);
    },
    async stream(model) {
      let text = '';
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of await client.chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      })) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      return said(text, usage);
    },
  };
};

const responses = (): Client => {
  const client = new OpenAI();
  const said = (text: string, usage: OpenAI.Responses.ResponseUsage | undefined): Said => ({
    text,
    input: usage?.input_tokens,
    output: usage?.output_tokens,
    cached: usage?.input_tokens_details.cached_tokens,
  });
  return {
    async ask(model) {
      const response = await client.responses.create({ model, instructions: system, input: user }, { maxRetries: 0 });
      return said(response.output_text, response.usage);
    },
    async stream(model) {
      let text = '';
      let usage: OpenAI.Responses.ResponseUsage | undefined;
      for await (const event of await client.responses.create({ model, instructions: system, input: user, stream: true })) {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed') usage = event.response.usage;
      }
      return said(text, usage);
    },
  };
};

const claude = (): Client => {
  const client = new Anthropic();
  const body = (model: string) => ({ model, max_tokens: 100, system, messages: [{ role: 'user' as const, content: user }] });
  const said = ({ content, usage }: Anthropic.Message): Said => ({
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    output: usage.output_tokens,
    input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
    cached: usage.cache_read_input_tokens ?? undefined,
  });
  return {
    ask: async (model) => said(await client.messages.create(body(model), { maxRetries: 0 })),
    stream: async (model) => said(await client.messages.stream(body(model)).finalMessage()),
  };
};

const gemini = (): Client => {
  const client = new GoogleGenAI({});
  const body = (model: string) => ({ model, contents: user, config: { systemInstruction: system } });
  const said = (text: string, usage: GenerateContentResponse['usageMetadata']): Said => ({
    text,
    input: usage?.promptTokenCount,
    output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    cached: usage?.cachedContentTokenCount,
  });
  return {
    async ask(model) {
      const response = await client.models.generateContent(body(model));
      return said(response.text ?? '', response.usageMetadata);
    },
    async stream(model) {
      let text = '';
      let usage: GenerateContentResponse['usageMetadata'];
      for await (const piece of await client.models.generateContentStream(body(model))) {
        text += piece.text ?? '';
        usage = piece.usageMetadata ?? usage;
      }
      return said(text, usage);
    },
  };
};

/** Vercel's AI SDK. */
const vercel = (of: (model: string) => LanguageModel): Client => {
  const said = (text: string, usage: LanguageModelUsage): Said => ({
    text,
    input: usage.inputTokens,
    output: usage.outputTokens,
    cached: usage.inputTokenDetails.cacheReadTokens,
  });
  return {
    async ask(model) {
      const { text, usage } = await generateText({ model: of(model), system, prompt: user, maxRetries: 0 });
      return said(text, usage);
    },
    async stream(model) {
      const answer = streamText({ model: of(model), system, prompt: user });
      return said(...(await Promise.all([answer.text, answer.usage])));
    },
  };
};
const vercelStatus = (error: unknown) => (APICallError.isInstance(error) ? error.statusCode : undefined);

const langchain = (of: (model: string) => BaseChatModel): Client => {
  const said = (answer: AIMessageChunk | undefined): Said => ({
    text: answer?.text ?? '',
    input: answer?.usage_metadata?.input_tokens,
    output: answer?.usage_metadata?.output_tokens,
    cached: answer?.usage_metadata?.input_token_details?.cache_read,
  });
  return {
    ask: async (model) =>
      said(
        (await of(model).invoke([
          ['system', system],
          ['human', user],
        ])) as AIMessageChunk,
      ),
    async stream(model) {
      let whole: AIMessageChunk | undefined;
      for await (const chunk of await of(model).stream([
        ['system', system],
        ['human', user],
      ]))
        whole = whole?.concat(chunk as AIMessageChunk) ?? (chunk as AIMessageChunk);
      return said(whole);
    },
  };
};
const numbered = (error: unknown) =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;

/** Every client, by what its users call it. */
export const kinds: Record<string, Kind> = {
  'OpenAI, chat completions': { capability: CHAT, env: openaiEnv, make: chat, status: openaiStatus },
  'OpenAI, responses': { capability: CHAT, env: openaiEnv, make: responses, status: openaiStatus },
  Anthropic: { capability: CLAUDE, env: anthropicEnv, make: claude, status: anthropicStatus },
  'Google GenAI': {
    capability: CHAT,
    env: (base, key) => ({ GOOGLE_GEMINI_BASE_URL: via(base, CHAT), GEMINI_API_KEY: key }),
    make: gemini,
    status: (error) => (error instanceof ApiError ? error.status : undefined),
  },
  'Vercel AI SDK, OpenAI': { capability: CHAT, env: openaiEnv, make: () => vercel(createOpenAI()), status: vercelStatus },
  'Vercel AI SDK, OpenAI chat': { capability: CHAT, env: openaiEnv, make: () => vercel(createOpenAI().chat), status: vercelStatus },
  'Vercel AI SDK, Anthropic': {
    capability: CLAUDE,
    env: (base, key) => ({ ANTHROPIC_BASE_URL: via(base, CLAUDE, '/v1'), ANTHROPIC_API_KEY: key }),
    make: () => vercel(createAnthropic()),
    status: vercelStatus,
  },
  'Vercel AI SDK, Google': {
    capability: CHAT,
    env: (_, key) => ({ GOOGLE_GENERATIVE_AI_API_KEY: key }),
    make: (base) => vercel(createGoogleGenerativeAI({ baseURL: via(base, CHAT, '/v1beta') })),
    status: vercelStatus,
  },
  'LangChain, OpenAI': {
    capability: CHAT,
    env: openaiEnv,
    make: () => langchain((model) => new ChatOpenAI({ model, maxRetries: 0 })),
    status: numbered,
  },
  'LangChain, Anthropic': {
    capability: CLAUDE,
    env: anthropicEnv,
    make: () => langchain((model) => new ChatAnthropic({ model, maxRetries: 0 })),
    status: numbered,
    addsUp: 'output',
  },
  'LangChain, Google': {
    capability: CHAT,
    env: (_, key) => ({ GOOGLE_API_KEY: key }),
    make: (base) => langchain((model) => new ChatGoogleGenerativeAI({ model, baseUrl: via(base, CHAT), maxRetries: 0 })),
    status: numbered,
    addsUp: 'cached',
    strays: true,
  },
};
