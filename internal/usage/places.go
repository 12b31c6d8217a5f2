package usage

// place is one number of a format.
type place uint8

// The places of the formats (providers' API references, 2026).
const (
	// OpenAI chat completions and embeddings, and all who speak it; responses, audio and images say input and output,
	// as Anthropic does.
	promptTokens place = iota
	completionTokens
	inputTokens
	outputTokens
	totalTokens
	cachedDetail     // in the details of the input
	cacheWriteDetail // likewise
	reasoningTokens  // in the details of the output
	cacheHit         // DeepSeek: part of prompt_tokens
	cachedTokens     // Moonshot: likewise
	// Anthropic: beside input_tokens.
	cacheRead
	cacheCreation
	// Gemini: cached is part of prompt, thoughts and tool use are beside candidates and prompt.
	geminiPrompt
	geminiToolUse
	geminiCandidates
	geminiThoughts
	geminiCached
	// Cohere: what the model read and wrote, and what is billed of it.
	cohereInput
	cohereOutput
	billedInput
	billedOutput

	places = iota
)

// node is a container, or a text, on the way to a number.
type node uint8

const (
	nowhere node = iota // nothing of interest is below
	root
	inMessage // Anthropic: message_start
	inResponse
	inDelta // Cohere: message-end
	inMeta
	inUsage
	inInputDetails
	inOutputDetails
	inTokens
	inBilled
	inGemini
	modelName
	eventType
	number // of the place that goes with it
)

// child is what a key leads to in a container.
func child(in node, key []byte) (node, place) {
	switch in {
	case root:
		return ofRoot(key)
	case inMessage, inDelta, inResponse:
		return ofEvent(in, key)
	case inMeta:
		return ofMeta(key)
	case inUsage:
		return ofUsage(key)
	case inInputDetails:
		switch string(key) {
		case "cached_tokens":
			return number, cachedDetail
		case "cache_creation_input_tokens", "cache_write_tokens":
			return number, cacheWriteDetail
		}
	case inOutputDetails:
		if string(key) == "reasoning_tokens" {
			return number, reasoningTokens
		}
	case inTokens, inBilled:
		return ofCohere(in, key)
	case inGemini:
		return ofGemini(key)
	}
	return nowhere, 0
}

// The keys of the model at the root.
const (
	modelKey       = "model"
	geminiModelKey = "modelVersion"
)

func isModel(key []byte) bool { return string(key) == modelKey || string(key) == geminiModelKey }

func ofRoot(key []byte) (node, place) {
	// What the keys below begin with: most others are told by their first letter, in one step.
	const letters = 1<<('u'-'a') | 1<<('m'-'a') | 1<<('t'-'a') | 1<<('e'-'a') | 1<<('r'-'a') | 1<<('d'-'a')
	if len(key) == 0 || uint64(letters)>>(key[0]-'a')&1 == 0 {
		return nowhere, 0
	}
	switch string(key) {
	case "usage":
		return inUsage, 0
	case "usageMetadata":
		return inGemini, 0
	case modelKey, geminiModelKey:
		return modelName, 0
	case "type", "event_type":
		return eventType, 0
	case "message":
		return inMessage, 0
	case "response":
		return inResponse, 0
	case "delta":
		return inDelta, 0
	case "meta":
		return inMeta, 0
	}
	return nowhere, 0
}

// ofEvent are the objects that an event of a stream wraps.
func ofEvent(in node, key []byte) (node, place) {
	switch string(key) {
	case "usage":
		return inUsage, 0
	case "model":
		if in != inDelta {
			return modelName, 0
		}
	case "meta":
		if in == inResponse {
			return inMeta, 0
		}
	}
	return nowhere, 0
}

func ofMeta(key []byte) (node, place) {
	switch string(key) {
	case "tokens":
		return inTokens, 0
	case "billed_units":
		return inBilled, 0
	}
	return nowhere, 0
}

func ofUsage(key []byte) (node, place) {
	switch string(key) {
	case "prompt_tokens":
		return number, promptTokens
	case "completion_tokens":
		return number, completionTokens
	case "input_tokens":
		return number, inputTokens
	case "output_tokens":
		return number, outputTokens
	case "total_tokens":
		return number, totalTokens
	case "reasoning_tokens":
		return number, reasoningTokens
	case "prompt_cache_hit_tokens":
		return number, cacheHit
	case "cached_tokens":
		return number, cachedTokens
	case "cache_read_input_tokens":
		return number, cacheRead
	case "cache_creation_input_tokens":
		return number, cacheCreation
	case "prompt_tokens_details", "input_tokens_details":
		return inInputDetails, 0
	case "completion_tokens_details", "output_tokens_details":
		return inOutputDetails, 0
	}
	return ofMeta(key)
}

// openAILast is what the last event of a stream has before what was used, as OpenAI and all who speak it write it.
const openAILast = `"choices":[],"usage":{`

// openAIUsage is what usage begins with as OpenAI and all who speak it write it, before each of its numbers.
var openAIUsage = []struct {
	written string
	of      place
}{{`"prompt_tokens":`, promptTokens}, {`,"completion_tokens":`, completionTokens}, {`,"total_tokens":`, totalTokens}}

func ofCohere(in node, key []byte) (node, place) {
	input, output := cohereInput, cohereOutput
	if in == inBilled {
		input, output = billedInput, billedOutput
	}
	switch string(key) {
	case "input_tokens":
		return number, input
	case "output_tokens":
		return number, output
	}
	return nowhere, 0
}

func ofGemini(key []byte) (node, place) {
	switch string(key) {
	case "promptTokenCount":
		return number, geminiPrompt
	case "toolUsePromptTokenCount":
		return number, geminiToolUse
	case "candidatesTokenCount":
		return number, geminiCandidates
	case "thoughtsTokenCount":
		return number, geminiThoughts
	case "cachedContentTokenCount":
		return number, geminiCached
	}
	return nowhere, 0
}

// wrapped is the container in which an event of a type has its usage, nowhere when that stands in the event itself: what it
// says in another is part of what it tells, not of what was used.
func wrapped(eventType []byte) node {
	const responseEvents = "response." // and a name: those of OpenAI's responses
	switch string(eventType) {
	case "message_start":
		return inMessage
	case "message-end":
		return inDelta
	case "stream-end":
		return inResponse
	}
	if begins(eventType, responseEvents) && len(eventType) > len(responseEvents) {
		return inResponse
	}
	return nowhere
}
