// Asks each stock client for golden answers that BASE serves, and prints what it says was used, in our meters: a line of JSON
// for each answer. A meter that a client has no word for has no key here.
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand, InvokeModelCommand, InvokeModelWithResponseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createMoonshotAI } from '@ai-sdk/moonshotai';
import { createOpenAI } from '@ai-sdk/openai';
import { createXai } from '@ai-sdk/xai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import { Mistral } from '@mistralai/mistralai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { generateText, streamText } from 'ai';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import Groq from 'groq-sdk';
import { Ollama } from 'ollama';
import OpenAI, { AzureOpenAI } from 'openai';

globalThis.AI_SDK_LOG_WARNINGS = false;
const model = 'asked';
const messages = [{ role: 'user', content: 'Hello' }];
const file = new File(['a'], 'a.mp3');
const once = { apiKey: 'k', maxRetries: 0 };

const openai = (at) => new OpenAI({ baseURL: `${at}/v1`, ...once });
const anthropic = (at) => new Anthropic({ baseURL: at, ...once });
const google = (at) => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: at } });
const vertex = (at) => new GoogleGenAI({ vertexai: true, apiKey: 'k', httpOptions: { baseUrl: at } });
const cohere = (at, of = CohereClientV2) => new of({ environment: at, token: 'k', maxRetries: 0 });
const mistral = (at) => new Mistral({ serverURL: at, apiKey: 'k' });
const groq = (at) => new Groq({ baseURL: at, ...once });
const ollama = (at) => new Ollama({ host: at });
const bedrock = (at, command) =>
  new BedrockRuntimeClient({ endpoint: at, region: 'none', token: { token: 'k' }, authSchemePreference: ['httpBearerAuth'], requestHandler: new NodeHttpHandler() })
    .send(command).then((x) => x.stream ?? (x.body?.[Symbol.asyncIterator] ? x.body : x));
async function vercel(model, stream) {
  const got = await (stream ? streamText : generateText)({ model, prompt: 'Hello', maxRetries: 0, onError() {} });
  return [{ usage: await got.usage, response: await got.response }];
}

const sum = (...numbers) => numbers.reduce((a, b) => a + (b ?? 0), 0);
const last = (pieces, key) => pieces.findLast((x) => x[key])?.[key];
const of = (list, modality) => sum(...(list ?? []).filter((x) => x.modality.toLowerCase() === modality).map((x) => x.tokenCount ?? x.tokens));

/** OpenAI's usage: chat and embeddings, or responses, images and audio. */
function openaiMeters(u) {
  const read = u.prompt_tokens_details ?? u.input_tokens_details ?? u.input_token_details ?? {};
  const wrote = u.completion_tokens_details ?? u.output_tokens_details ?? {};
  return {
    input: u.prompt_tokens ?? u.input_tokens, output: u.completion_tokens ?? u.output_tokens,
    cached_input: read.cached_tokens, cache_write: read.cache_write_tokens,
    cache_write_30m: read.cache_write_tokens_details?.ttl_30m_tokens, cache_write_12h: read.cache_write_tokens_details?.ttl_12h_tokens,
    reasoning: wrote.reasoning_tokens ?? u.reasoning_tokens, input_audio: read.audio_tokens, input_image: read.image_tokens,
    output_audio: wrote.audio_tokens, output_image: wrote.image_tokens, milliseconds: (u.seconds ?? 0) * 1000,
  };
}

/** What pieces of a chat, or another answer with usage at its root, say. */
const openaiLine = (pieces) => [{ model: last(pieces, 'model'), tier: last(pieces, 'service_tier'), ...openaiMeters(last(pieces, 'usage') ?? {}) }];

function responseLines(pieces) {
  const x = last(pieces, 'response') ?? pieces[0];
  const { image_gen: image, web_search: search } = x.tool_usage ?? {};
  const { web_search_calls, mcp_calls, ...tools } = x.usage?.server_side_tool_usage_details ?? {}; // xAI's
  const drawn = [x, ...(x.output ?? [])].map((item) => item.svg_usage).filter(Boolean);
  const drawing = drawn.length > 0 && { input_tokens: sum(...drawn.map((d) => d.input_tokens)), output_tokens: sum(...drawn.map((d) => d.output_tokens)), reasoning_tokens: sum(...drawn.map((d) => d.reasoning_tokens)) };
  return [
    { model: x.model, tier: x.service_tier, ...openaiMeters(x.usage ?? {}), web_searches: sum(search?.num_requests, web_search_calls), tool_calls: sum(...Object.values(tools)) },
    ...(image ? [{ model: x.tools.find((t) => t.type === 'image_generation').model, tier: x.service_tier, ...openaiMeters(image) }] : []),
    ...(drawing ? [{ model: drawn[0].model, ...openaiMeters(drawing) }] : []),
  ];
}

const anthropicMeters = (u) => ({
  input: sum(u.input_tokens, u.cache_read_input_tokens, u.cache_creation_input_tokens), output: u.output_tokens,
  cached_input: u.cache_read_input_tokens, cache_write: u.cache_creation_input_tokens,
  cache_write_5m: u.cache_creation?.ephemeral_5m_input_tokens, cache_write_1h: u.cache_creation?.ephemeral_1h_input_tokens,
  reasoning: u.output_tokens_details?.thinking_tokens, web_searches: u.server_tool_use?.web_search_requests,
});

/** A message's usage leaves out its compactions and advisers: its iterations tell of them, and of attempts that were declined. */
function anthropicLines([x]) {
  const u = x.usage ?? {};
  const named = { model: x.model, tier: u.speed === 'fast' ? 'fast' : u.service_tier };
  const are = (type) => (u.iterations ?? []).filter((i) => i.type === type);
  const parts = are('compaction').map(anthropicMeters);
  const line = anthropicMeters(u);
  for (const part of parts) for (const meter in part) line[meter] = sum(line[meter], part[meter]);
  return [{ ...named, ...line }, ...are('advisor_message').map((i) => ({ model: i.model, tier: u.service_tier, ...anthropicMeters(i) }))];
}

function geminiLine(pieces) {
  const u = Object.assign({}, ...pieces.map((x) => x.usageMetadata));
  return [{
    model: last(pieces, 'modelVersion'), tier: u.serviceTier ?? u.trafficType, input: sum(u.promptTokenCount, u.toolUsePromptTokenCount),
    output: sum(u.candidatesTokenCount, u.thoughtsTokenCount), cached_input: u.cachedContentTokenCount, reasoning: u.thoughtsTokenCount,
    input_image: of(u.promptTokensDetails, 'image'), output_audio: of(u.candidatesTokensDetails, 'audio'),
  }];
}

function interactionLine(pieces) {
  const all = pieces.map((x) => x.interaction ?? x).filter((x) => x.usage).map((x) => x.usage);
  const add = (...names) => sum(...all.flatMap((u) => names.map((name) => u[name])));
  return [{
    model: last(pieces, 'interaction')?.model ?? pieces[0].model, input: add('total_input_tokens', 'total_tool_use_tokens'), output: add('total_output_tokens', 'total_thought_tokens'),
    cached_input: add('total_cached_tokens'), reasoning: add('total_thought_tokens'),
    output_image: sum(...all.map((u) => of(u.output_tokens_by_modality, 'image'))),
    web_searches: sum(...all.flatMap((u) => u.grounding_tool_count ?? []).filter((t) => t.type === 'google_search').map((t) => t.count)),
  }];
}

const cacheLine = ([x]) => [{ model: x.model, input: x.usageMetadata.totalTokenCount }];
const vertexLine = ([x]) => [{ input: sum(...x.embeddings.map((e) => e.statistics.tokenCount)), characters: x.metadata.billableCharacterCount }];

function cohereLine(pieces) {
  const u = (pieces.map((x) => x.delta?.usage ?? x.response?.meta ?? x.usage ?? x.meta).findLast(Boolean) ?? {}).billedUnits ?? {};
  return [{ input: sum(u.inputTokens, u.imageTokens), output: u.outputTokens, input_image: u.imageTokens, images: u.images, pages: u.pages, search_units: u.searchUnits }];
}

/** Mistral's total has what its connectors and what it listened to brought. */
function mistralLine(pieces) {
  const x = pieces.at(-1);
  const u = x.usage ?? {}, { web_search, web_search_premium, ...others } = u.connectors ?? {};
  const heard = u.promptAudioSeconds ? u.totalTokens - u.promptTokens - u.completionTokens : 0;
  return [{
    model: x.model, tier: u.serviceTier, input: sum(u.promptTokens, u.connectorTokens, heard), output: u.completionTokens, input_audio: heard, milliseconds: sum(u.promptAudioSeconds) * 1000,
    cached_input: u.num_cached_tokens ?? (u.prompt_token_details ?? u.prompt_tokens_details)?.cached_tokens,
    web_searches: sum(web_search, web_search_premium), tool_calls: sum(...Object.values(others)), pages: x.usageInfo?.pagesProcessed,
  }];
}

/** Groq's types have a stream's usage in x_groq alone. */
const groqLine = (pieces) => openaiLine([...pieces, { usage: last(pieces, 'usage') ?? last(pieces, 'x_groq').usage }]);
const ollamaLine = (pieces) => [{ model: last(pieces, 'model'), input: last(pieces, 'prompt_eval_count'), output: last(pieces, 'eval_count') }];

function converseLine(pieces) {
  const { usage: u, serviceTier } = last(pieces, 'metadata') ?? pieces[0];
  const written = (ttl) => sum(...(u.cacheDetails ?? []).filter((d) => d.ttl === ttl).map((d) => d.inputTokens));
  return [{
    tier: serviceTier?.type, input: sum(u.inputTokens, u.cacheReadInputTokens, u.cacheWriteInputTokens), output: u.outputTokens,
    cached_input: u.cacheReadInputTokens, cache_write: u.cacheWriteInputTokens, cache_write_5m: written('5m'), cache_write_1h: written('1h'),
  }];
}

/** What a model writes itself, Bedrock's client hands over as bytes. */
function invokedLine(pieces) {
  const texts = pieces.map((x) => JSON.parse(new TextDecoder().decode(x.chunk?.bytes ?? x.body)));
  const began = last(texts, 'message');
  const u = last(texts, 'amazon-bedrock-invocationMetrics') ?? last(texts, 'metadata')?.usage ?? {};
  const cached = u.cacheReadInputTokenCount, written = u.cacheWriteInputTokenCount;
  return [{
    model: began?.model, input: sum(u.inputTokenCount ?? u.inputTokens ?? last(texts, 'prompt_token_count') ?? last(texts, 'inputTextTokenCount'), cached, written),
    output: u.outputTokenCount ?? u.outputTokens ?? last(texts, 'generation_token_count') ?? sum(...(last(texts, 'results') ?? []).map((r) => r.tokenCount)),
    cached_input: cached, cache_write: written, cache_write_1h: began?.usage.cache_creation.ephemeral_1h_input_tokens,
  }];
}

const vercelLine = ([{ usage: u, response }]) => [{
  ...(response.modelId !== model && { model: response.modelId }), // or it says again what was asked for
  input: u.inputTokens, output: u.outputTokens,
  cached_input: u.inputTokenDetails.cacheReadTokens, cache_write: u.inputTokenDetails.cacheWriteTokens, reasoning: u.outputTokenDetails.reasoningTokens,
}];

function langchainLine(pieces) {
  const { usage_metadata: u, response_metadata } = pieces.reduce((a, b) => a.concat(b));
  return [{
    model: response_metadata.model_name, input: u.input_tokens, output: u.output_tokens, cached_input: u.input_token_details?.cache_read, cache_write: u.input_token_details?.cache_creation,
    reasoning: u.output_token_details?.reasoning, input_audio: u.input_token_details?.audio, output_audio: u.output_token_details?.audio,
  }];
}

/** Client, the answers that it is asked for, how, and what it then says. */
const asks = [
  ['openai', 'openai-chat openai-chat-stream deepseek deepseek-stream xai-chat xai-chat-stream moonshot moonshot-stream moonshot-reasoning gemini-openai gemini-openai-stream', (at, stream) => openai(at).chat.completions.create({ model, messages, stream }), openaiLine],
  ['openai', 'openai-chat-update', (at) => openai(at).chat.completions.update('chatcmpl-B9MBs8', { metadata: {} }), openaiLine],
  ['openai, for Azure', 'azure-chat-stream', (at, stream) => new AzureOpenAI({ endpoint: at, apiVersion: 'v', ...once }).chat.completions.create({ model, messages, stream }), openaiLine],
  ['openai', 'openai-responses-tools openai-responses-tools-stream openai-responses-svg-items openai-responses-background xai-responses', (at, stream) => openai(at).responses.create({ model, input: 'Hello', stream }), responseLines],
  ['openai', 'openai-responses-cancel', (at) => openai(at).responses.cancel('resp_67cb'), responseLines],
  ['openai', 'openai-embeddings', (at) => openai(at).embeddings.create({ model, input: 'Hello' }), openaiLine],
  ['openai', 'openai-images-svg', (at) => openai(at).images.generate({ model, prompt: 'Hello' }), responseLines],
  ['openai', 'openai-images-stream', (at, stream) => openai(at).images.generate({ model, prompt: 'Hello', stream }), openaiLine],
  ['openai', 'openai-transcription openai-transcription-seconds', (at) => openai(at).audio.transcriptions.create({ model, file }), openaiLine],
  ['openai', 'openai-batch', (at) => openai(at).batches.create({ endpoint: '/v1/responses', completion_window: '24h', input_file_id: 'f' }), openaiLine],
  ['openai', 'openai-video', (at) => openai(at).videos.create({ model, prompt: 'Hello' }), openaiLine],
  // Compactions, advisers and fallbacks are in its beta's types alone.
  ['anthropic', 'anthropic-message anthropic-fast anthropic-compaction anthropic-fallback', (at) => anthropic(at).beta.messages.create({ model, messages, max_tokens: 9 }), anthropicLines],
  ['anthropic', 'anthropic-message-stream anthropic-search-stream anthropic-compaction-stream anthropic-fallback-stream anthropic-zeros-stream', (at) => [anthropic(at).beta.messages.stream({ model, messages, max_tokens: 9 }).finalMessage()], anthropicLines],
  ['anthropic', 'anthropic-batch', (at) => anthropic(at).messages.batches.create({ requests: [] }), anthropicLines],
  ['google', 'gemini gemini-stream', (at, stream) => google(at).models[stream ? 'generateContentStream' : 'generateContent']({ model, contents: 'Hello' }), geminiLine],
  ['google', 'gemini-cache', (at) => google(at).caches.create({ model }), cacheLine],
  ['google', 'gemini-cache-update', (at) => google(at).caches.update({ name: 'cachedContents/4aj8kw1nq2', config: { ttl: '3600s' } }), cacheLine],
  ['google, for Vertex', 'vertex-stream', (at) => vertex(at).models.generateContentStream({ model, contents: 'Hello' }), geminiLine],
  ['google, for Vertex', 'vertex-embeddings', (at) => vertex(at).models.embedContent({ model: 'text-embedding-005', contents: ['Hello', 'you'] }), vertexLine],
  ['google', 'interactions interactions-stream interactions-hops-stream interactions-background', (at, stream) => google(at).interactions.create({ model, input: 'Hello', stream }), interactionLine],
  ['cohere', 'cohere-chat cohere-chat-stream', (at, stream) => cohere(at)[stream ? 'chatStream' : 'chat']({ model, messages }), cohereLine],
  ['cohere', 'cohere-chat-v1-stream', (at) => cohere(at, CohereClient).chatStream({ model, message: 'Hello' }), cohereLine],
  ['cohere', 'cohere-embed cohere-embed-images', (at) => cohere(at).embed({ model, texts: ['Hello'], inputType: 'search_query', embeddingTypes: ['float'] }), cohereLine],
  ['cohere', 'cohere-rerank', (at) => cohere(at).rerank({ model, query: 'Hello', documents: ['you'] }), cohereLine],
  ['mistral', 'mistral-cached mistral-details mistral-stream', (at, stream) => mistral(at).chat[stream ? 'stream' : 'complete']({ model, messages }), mistralLine],
  ['mistral', 'mistral-conversation', (at) => mistral(at).beta.conversations.append({ conversationId: 'conv_1', conversationAppendRequest: { inputs: 'Hello' } }), mistralLine],
  ['mistral', 'mistral-ocr', (at) => mistral(at).ocr.process({ model, document: { type: 'document_url', documentUrl: 'https://x' } }), mistralLine],
  ['mistral', 'mistral-transcription', (at) => mistral(at).audio.transcriptions.complete({ model, fileUrl: 'https://x' }), mistralLine],
  ['groq', 'groq groq-stream groq-both-stream', (at, stream) => groq(at).chat.completions.create({ model, messages, stream }), groqLine],
  ['ollama', 'ollama-chat ollama-chat-stream', (at, stream) => ollama(at).chat({ model, messages, stream }), ollamaLine],
  ['ollama', 'ollama-embed', (at) => ollama(at).embed({ model, input: 'Hello' }), ollamaLine],
  ['bedrock', 'bedrock-converse bedrock-converse-stream', (at, stream) => bedrock(at, new (stream ? ConverseStreamCommand : ConverseCommand)({ modelId: model, messages: [{ role: 'user', content: [{ text: 'Hello' }] }] })), converseLine],
  ['bedrock', 'bedrock-invoke-llama bedrock-invoke-titan bedrock-invoke-claude-stream bedrock-invoke-llama-stream bedrock-invoke-nova-stream', (at, stream) => bedrock(at, new (stream ? InvokeModelWithResponseStreamCommand : InvokeModelCommand)({ modelId: model, body: '{}' })), invokedLine],
  ['AI SDK', 'openai-chat openai-chat-stream', (at, stream) => vercel(createOpenAI({ baseURL: at, apiKey: 'k' }).chat(model), stream), vercelLine],
  ['AI SDK', 'openai-responses-tools openai-responses-tools-stream', (at, stream) => vercel(createOpenAI({ baseURL: at, apiKey: 'k' }).responses(model), stream), vercelLine],
  ['AI SDK', 'anthropic-message anthropic-message-stream anthropic-search-stream anthropic-compaction anthropic-compaction-stream anthropic-fallback anthropic-fallback-stream anthropic-zeros-stream', (at, stream) => vercel(createAnthropic({ baseURL: at, apiKey: 'k' })(model), stream), vercelLine],
  ['AI SDK', 'gemini gemini-stream vertex-stream', (at, stream) => vercel(createGoogleGenerativeAI({ baseURL: at, apiKey: 'k' })(model), stream), vercelLine],
  ['AI SDK', 'interactions interactions-stream', (at, stream) => vercel(createGoogleGenerativeAI({ baseURL: at, apiKey: 'k' }).interactions(model), stream), vercelLine],
  ['AI SDK', 'xai-responses', (at, stream) => vercel(createXai({ baseURL: at, apiKey: 'k' })(model), stream), vercelLine],
  ['AI SDK', 'deepseek deepseek-stream', (at, stream) => vercel(createDeepSeek({ baseURL: at, apiKey: 'k' })(model), stream), vercelLine],
  ['AI SDK', 'moonshot moonshot-stream moonshot-reasoning', (at, stream) => vercel(createMoonshotAI({ baseURL: at, apiKey: 'k' })(model), stream), vercelLine],
  ['langchain', 'openai-chat openai-chat-stream', (at, stream) => new ChatOpenAI({ model, apiKey: 'k', maxRetries: 0, configuration: { baseURL: at } })[stream ? 'stream' : 'invoke']('Hello'), langchainLine],
];

async function ask(client, answer, how, read) {
  const asked = { client, answer };
  try {
    const got = await how(`${process.env.BASE}/${answer}`, answer.endsWith('-stream'));
    const pieces = [];
    if (Array.isArray(got) || got[Symbol.asyncIterator]) for await (const piece of got) pieces.push(piece.data ?? piece);
    else pieces.push(got);
    asked.lines = read(pieces);
  } catch (error) {
    asked.error = error.stack;
  }
  console.log(JSON.stringify(asked, (_, value) => value ?? null));
}

await Promise.all(asks.flatMap(([client, answers, how, read]) => answers.split(' ').map((answer) => ask(client, answer, how, read))));
process.exit(); // whatever connections are kept
