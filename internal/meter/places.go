package meter

// This is the table: where each provider has what it reports, and what it means there. A place is a path of keys from the
// beginning of a JSON text, [] behind the key of an array for each of its members.
//
// Sources, as published by 2026-11: the types of openai 7.57.0 and openai-go v3.98.0, @anthropic-ai/sdk 1.14.0 and
// anthropic-sdk-go v1.84.0, @google/genai 3.3.0 and google.golang.org/genai v1.77.0, @mistralai/mistralai 2.7.0, cohere-ai
// 8.1.0 and cohere-go v2.15.3, groq-sdk 1.6.0, ollama v0.17.4, @aws-sdk/client-bedrock-runtime 3.1164.0, volcengine-go-sdk
// v1.1.35, together-ai 0.52.0, @openrouter/ai-sdk-provider 3.1.0; what the provider packages of the AI SDK 7.0.173 read; and
// answers recorded in its tests (snapshot of 2026-08-22). What none of them shows is marked "unverified": it stands here as
// the provider's documentation has it.

// field is what stands at a place.
type field uint8

// The fields.
const (
	nothing field = iota

	// Tokens. Where one of these is no whole number, the answer cannot be read.
	prompt        // read, cached ones included
	input         // the same; what the cache took part in is beside it, unless the answer has it inside
	output        // written
	total         // all together
	cached        // inside prompt or input
	written       // to the cache, likewise
	cacheRead     // beside input
	cacheCreation // beside input
	reasoning     // inside output, or beside it: the total tells
	reasoningFlat // the same, beside it where the provider is Perplexity
	thoughts      // beside output
	toolUse       // read, beside prompt
	billedInput   // Cohere: what is charged of it; counts alone
	billedImage   // beside billedInput
	billedOutput

	// Parts of them, and other units. What is no number here is passed over.
	written5m
	written30m
	written1h
	written12h
	audioIn
	imageIn
	videoIn
	audioOut
	imageOut
	searchUnits
	webSearches
	searchQueries // Perplexity's
	citations     // likewise; no meter
	toolCalls
	images
	pages
	characters
	seconds
	audioSeconds // of what was listened to: tokens that only the total has are read

	numbers = iota
)

// What else stands at a place.
const (
	model field = numbers + iota
	answerID
	eventType // of the text
	tier
	speed         // Anthropic: fast is a tier of its own
	status        // of what was asked for
	imageModel    // OpenAI: of the tool that makes images
	fallbackModel // Anthropic: of the model that went on where another declined
	cost          // in US dollars, unless a currency stands beside it
	costTicks     // in 1e-10 US dollars
	currency
	partKind    // of an object of others
	chat        // an array that only a conversation has
	perplexity  // a text, whatever it says
	wrappedText // of JSON in Base64, in Amazon's frames

	// Of a member of an array that tells a kind and how many.
	memberKind
	memberInput  // tokens read of the kind
	memberOutput // written
	memberWrite  // written to the cache for the time that the kind is
	memberCalls  // of a tool of the kind
)

// place is a row of the table.
type place struct {
	path string
	is   field
}

// wrapper is what an event of a stream wraps what it tells in. What an object of its name says in a text of another type
// is part of the answer, not of what it used.
type wrapper struct {
	path string
	when []string // types of the text, or what they begin with where a * ends it; none: any
	in   form
}

// form is where a text comes from.
type form uint8

const (
	anywhere form = iota
	inEvents      // of an event stream
	inFrames      // of Amazon's
)

// wrappers begin with the text itself.
var wrappers = []wrapper{
	{},
	{path: "message", when: []string{"message_start"}},             // Anthropic
	{path: "content_block", when: []string{"content_block_start"}}, // Anthropic
	{path: "response", when: []string{"response.*", "stream-end"}}, // OpenAI responses, Cohere v1
	{path: "delta", when: []string{"message-end"}},                 // Cohere v2
	{path: "interaction", when: []string{"interaction.*"}},         // Gemini interactions
	{path: "x_groq"},                       // Groq: the only place in the types; with include_usage it is at the root too
	{path: "choices[]"},                    // Moonshot: of the chunk that finishes a choice
	{path: "metadata.usage", in: inFrames}, // Amazon Nova in InvokeModelWithResponseStream; unverified
}

// Wrappers by what their events are.
const (
	itself        = 0
	ofMessage     = 1 // begins a message, and tells what it used by then
	ofInteraction = 5 // of which a stream may have several
)

// usage is what an object of that name has, with any provider that speaks as OpenAI, Anthropic or Cohere do.
var usage = []place{
	// OpenAI chat, embeddings, and all who speak it.
	{"prompt_tokens", prompt},
	{"completion_tokens", output},
	{"total_tokens", total},
	// OpenAI responses, audio, images, decisions; Anthropic.
	{"input_tokens", input},
	{"output_tokens", output},
	// Anthropic: beside input_tokens. message_delta has no cache_creation.
	{"cache_read_input_tokens", cacheRead},
	{"cache_creation_input_tokens", cacheCreation},
	{"cache_creation.ephemeral_5m_input_tokens", written5m},
	{"cache_creation.ephemeral_1h_input_tokens", written1h},
	{"output_tokens_details.thinking_tokens", reasoning},
	{"server_tool_use.web_search_requests", webSearches}, // OpenRouter too
	{"service_tier", tier},
	{"speed", speed},
	// DeepSeek: inside prompt_tokens. Moonshot, Together, Fireworks: cached_tokens. Mistral: num_cached_tokens.
	{"prompt_cache_hit_tokens", cached},
	{"cached_tokens", cached},
	{"num_cached_tokens", cached},
	// SGLang and vLLM: inside; Perplexity: beside.
	{"reasoning_tokens", reasoningFlat},
	{"citation_tokens", citations},
	{"num_search_queries", searchQueries},
	{"search_context_size", perplexity},
	{"cost.total_cost", cost},
	{"cost.currency", currency},
	{"cost", cost}, // OpenRouter
	// xAI. mcp_calls are left out: they cost their tokens alone; unverified.
	{"cost_in_usd_ticks", costTicks},
	{"server_side_tool_usage_details.web_search_calls", webSearches},
	{"server_side_tool_usage_details.x_search_calls", toolCalls},
	{"server_side_tool_usage_details.code_interpreter_calls", toolCalls},
	{"server_side_tool_usage_details.file_search_calls", toolCalls},
	{"server_side_tool_usage_details.document_search_calls", toolCalls},
	// Mistral: what tools brought, inside the total only; how often each was called; audio.
	{"connector_tokens", toolUse},
	{"connectors.web_search", webSearches},
	{"connectors.web_search_premium", webSearches},
	{"connectors.code_interpreter", toolCalls},
	{"connectors.image_generation", toolCalls},
	{"connectors.document_library", toolCalls},
	{"prompt_audio_seconds", audioSeconds},
	// OpenAI transcription by duration.
	{"seconds", seconds},
	// Cohere: tokens is what the model processed, its own preamble included.
	{"tokens.input_tokens", prompt},
	{"tokens.output_tokens", output},
	{"billed_units.input_tokens", billedInput},
	{"billed_units.image_tokens", billedImage},
	{"billed_units.output_tokens", billedOutput},
	{"billed_units.search_units", searchUnits},
	{"billed_units.images", images},
	{"billed_units.pages", pages},
	// Alibaba: of the multimodal models. duration and characters are of speech; unverified.
	{"image_tokens", imageIn},
	{"video_tokens", videoIn},
	{"audio_tokens", audioIn},
	{"image_count", images},
	{"characters", characters},
	{"duration", seconds},
	{"plugins.search.count", webSearches},
	// Ark: images.
	{"generated_images", images},
	// Bedrock Converse and Amazon Nova: beside inputTokens; recorded answers repeat the cache with Count at the end.
	{"inputTokens", input},
	{"outputTokens", output},
	{"totalTokens", total},
	{"cacheReadInputTokens", cacheRead},
	{"cacheReadInputTokenCount", cacheRead},
	{"cacheWriteInputTokens", cacheCreation},
	{"cacheWriteInputTokenCount", cacheCreation},
	{"cacheDetails[].ttl", memberKind},
	{"cacheDetails[].inputTokens", memberWrite},
	// Gemini interactions: tool use is beside input, thoughts beside output.
	{"total_input_tokens", prompt},
	{"total_output_tokens", output},
	{"total_cached_tokens", cached},
	{"total_thought_tokens", thoughts},
	{"total_tool_use_tokens", toolUse},
	{"input_tokens_by_modality[].modality", memberKind},
	{"input_tokens_by_modality[].tokens", memberInput},
	{"tool_use_tokens_by_modality[].modality", memberKind},
	{"tool_use_tokens_by_modality[].tokens", memberInput},
	{"output_tokens_by_modality[].modality", memberKind},
	{"output_tokens_by_modality[].tokens", memberOutput},
	{"grounding_tool_count[].type", memberKind},
	{"grounding_tool_count[].count", memberCalls},
}

// Details of what was read and written stand in an object of their own in usage; Mistral and OpenAI's audio have the names
// in the singular.
var (
	inputDetails  = []string{"prompt_tokens_details", "prompt_token_details", "input_tokens_details", "input_token_details"}
	outputDetails = []string{"completion_tokens_details", "completion_token_details", "output_tokens_details", "output_token_details"}
)

// read are in details of what was read.
var read = []place{
	{"cached_tokens", cached},
	{"cache_write_tokens", written}, // OpenAI, from GPT-5.6 on
	{"cache_write_tokens_details.ttl_30m_tokens", written30m},
	{"cache_write_tokens_details.ttl_12h_tokens", written12h},
	{"cache_creation_input_tokens", written}, // Alibaba
	{"cache_creation.ephemeral_5m_input_tokens", written5m},
	{"cache_creation.ephemeral_1h_input_tokens", written1h},
	{"audio_tokens", audioIn},
	{"image_tokens", imageIn},
	{"video_tokens", videoIn},
}

// wrote are in details of what was written.
var wrote = []place{
	{"reasoning_tokens", reasoning},
	{"audio_tokens", audioOut},
	{"image_tokens", imageOut},
}

// texts are the other places of a text.
var texts = []place{
	{"type", eventType},
	{"event_type", eventType},
	{"model", model}, {"message.model", model}, {"response.model", model}, {"interaction.model", model},
	{"modelVersion", model}, // Gemini
	{"id", answerID}, {"message.id", answerID}, {"response.id", answerID}, {"interaction.id", answerID},
	{"responseId", answerID},                                // Gemini
	{"generation_id", answerID},                             // Cohere v1
	{"service_tier", tier}, {"response.service_tier", tier}, // OpenAI, Groq, Ark
	{"serviceTier.type", tier}, // Bedrock Converse
	{"choices[]", chat},
	{"candidates[]", chat},
	// What is still to be done: OpenAI and Gemini in the background, videos, batches; Anthropic's batches; Alibaba's tasks.
	{"status", status}, {"response.status", status}, {"interaction.status", status},
	{"processing_status", status},
	{"output.task_status", status},
	{"metadata.state", status}, // Gemini's batches
	// OpenAI: tools that are models, beside usage. tools[] repeats what was asked for.
	{"tools[].model", imageModel}, {"response.tools[].model", imageModel},
	{"tool_usage.web_search.num_requests", webSearches}, {"response.tool_usage.web_search.num_requests", webSearches},
	// Anthropic: what a stream tells of the model that went on.
	{"content_block.to.model", fallbackModel},
	// Mistral OCR.
	{"usage_info.pages_processed", pages},
	// Ollama.
	{"prompt_eval_count", prompt},
	{"eval_count", output},
	// llama.cpp; unverified.
	{"tokens_evaluated", prompt},
	{"tokens_predicted", output},
	// Bedrock InvokeModel: Llama, Titan (unverified), and any model's last event.
	{"bytes", wrappedText},
	{"prompt_token_count", prompt},
	{"generation_token_count", output},
	{"inputTextTokenCount", prompt},
	{"results[].tokenCount", output},
	{"totalOutputTextTokenCount", output},
	{"amazon-bedrock-invocationMetrics.inputTokenCount", input},
	{"amazon-bedrock-invocationMetrics.outputTokenCount", output},
	{"amazon-bedrock-invocationMetrics.cacheReadInputTokenCount", cacheRead},
	{"amazon-bedrock-invocationMetrics.cacheWriteInputTokenCount", cacheCreation},
	// Vertex embeddings by :predict; unverified.
	{"predictions[].embeddings.statistics.token_count", prompt},
	{"metadata.billableCharacterCount", characters},
	// Gemini: cached is inside prompt, thoughts and tool use are beside candidates and prompt.
	{"usageMetadata.promptTokenCount", prompt},
	{"usageMetadata.toolUsePromptTokenCount", toolUse},
	{"usageMetadata.candidatesTokenCount", output},
	{"usageMetadata.thoughtsTokenCount", thoughts},
	{"usageMetadata.cachedContentTokenCount", cached},
	{"usageMetadata.totalTokenCount", total},
	{"usageMetadata.trafficType", tier}, // Vertex, in 75 of 76 recorded chunks
	{"usageMetadata.serviceTier", tier},
	{"usageMetadata.promptTokensDetails[].modality", memberKind},
	{"usageMetadata.promptTokensDetails[].tokenCount", memberInput},
	{"usageMetadata.toolUsePromptTokensDetails[].modality", memberKind},
	{"usageMetadata.toolUsePromptTokensDetails[].tokenCount", memberInput},
	{"usageMetadata.candidatesTokensDetails[].modality", memberKind},
	{"usageMetadata.candidatesTokensDetails[].tokenCount", memberOutput},
}

// usages are where an object stands that has what usage lists.
var usages = []string{
	"usage", "message.usage", "response.usage", "delta.usage", "interaction.usage", "x_groq.usage", "choices[].usage", "metadata.usage",
	"meta", "response.meta", // Cohere v1, embeddings and rerankers
}

// opened are the other objects that say nothing but what was used.
var opened = []string{"usageMetadata", "amazon-bedrock-invocationMetrics", "tool_usage", "response.tool_usage"}

// others are objects of what usage lists that another model used, or the same at another time. Each may name its model
// and its kind.
var others = []struct {
	path string
	is   part
}{
	// Anthropic: the top level leaves a compaction out, and an adviser; a declined attempt is not charged.
	{"usage.iterations[]", iteration}, {"message.usage.iterations[]", iteration},
	// OpenAI: images, and such that are drawn.
	{"tool_usage.image_gen", imageTool}, {"response.tool_usage.image_gen", imageTool},
	{"svg_usage", drawing}, {"response.svg_usage", drawing},
	{"output[].svg_usage", drawingItem}, {"response.output[].svg_usage", drawingItem},
	// Ark's bots; prompt_tokens of an action is typed as text.
	{"bot_usage.model_usage[]", botModel},
}

// named are names in others.
var named = []place{{"type", partKind}, {"model", model}, {"name", model}}

// part is what such an object is of.
type part uint8

const (
	whole part = iota // it is none
	iteration
	imageTool
	drawing
	drawingItem
	botModel
)

// summed are places where each member of an array, or each of several keys, tells a part of the number.
var summed = map[string]bool{
	"predictions[].embeddings.statistics.token_count": true, "results[].tokenCount": true,
	"connectors.web_search": true, "connectors.web_search_premium": true, "connectors.code_interpreter": true, "connectors.image_generation": true,
	"connectors.document_library": true, "server_side_tool_usage_details.x_search_calls": true,
	"server_side_tool_usage_details.code_interpreter_calls": true, "server_side_tool_usage_details.file_search_calls": true,
	"server_side_tool_usage_details.document_search_calls": true,
}

// members are what a kind of member counts as, in small letters.
var members = map[field]map[string]field{
	memberInput:  {"audio": audioIn, "image": imageIn, "video": videoIn},
	memberOutput: {"audio": audioOut, "image": imageOut},
	memberWrite:  {"5m": written5m, "30m": written30m, "1h": written1h, "12h": written12h},
	memberCalls:  {"google_search": webSearches, "google_maps": toolCalls, "retrieval": toolCalls},
}

// unfinished are the states of what is still to be done.
var unfinished = map[string]bool{
	"queued": true, "in_progress": true, "pending": true, "running": true, "processing": true, "validating": true, "finalizing": true,
	"submitted": true, "canceling": true, "cancelling": true, "batch_state_pending": true, "batch_state_running": true, "job_state_pending": true, "job_state_running": true,
}

// tasks are the ends of paths where something is begun whose answer may have but a name; cancels those where it is ended.
// A path with kept in it is of a cache of Gemini's, which told what was used when it was made and names itself in no id.
var (
	tasks   = []string{"/batches", "/videos", "/contents/generations/tasks", ":predictLongRunning", ":batchGenerateContent", ":asyncBatchEmbedContent", "/async-invoke"}
	cancels = []string{"/cancel", ":cancel"}
	kept    = []byte("/cachedContents/")
)

// countHeaders are what Bedrock's InvokeModel tells in the head of the answer of any model. Those of the cache are
// unverified.
var countHeaders = [...]struct {
	name string
	is   field
}{
	{"x-amzn-bedrock-input-token-count", input},
	{"x-amzn-bedrock-output-token-count", output},
	{"x-amzn-bedrock-cache-read-input-token-count", cacheRead},
	{"x-amzn-bedrock-cache-write-input-token-count", cacheCreation},
}
