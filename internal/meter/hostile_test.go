package meter

import "strings"

// hostile are answers that quote, nest, hide or spoil what the formats say.
func hostile() []sample {
	long := strings.Repeat(`x\\\"usage\":{\"prompt_tokens\":1},`, 300)
	unreadable := said{state: Unreadable}
	return []sample{
		{name: "quoted", kind: jsonType, want: absent(""), body: `{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}"}}]}`},
		{name: "quoted behind backslashes", kind: jsonType, want: known("m", 1, 2, -1, -1, -1),
			body: `{"text":"a\\\\","b":"\\\"","model":"m","c":"\\","usage":{"prompt_tokens":1,"completion_tokens":2}}`},
		{name: "nested", kind: jsonType, want: known("m", 1, 2, -1, -1, -1),
			body: `{"model":"m","choices":[{"usage":{"prompt_tokens":100},"message":{"usage":{"prompt_tokens":100}}}],"message":{"usage":{"prompt_tokens":100}},"response":{"usage":{"input_tokens":9}},` +
				`"delta":{"usage":{"input_tokens":9}},"usage":{"usage":{"prompt_tokens":50},"prompt_tokens":1,"completion_tokens":2,"extra":[{"prompt_tokens":7}],"more":{"completion_tokens":8}}}`},
		{name: "long", kind: jsonType, want: known("m", 1, 2, -1, -1, -1),
			body: `{"content":"` + long + `","deep":` + strings.Repeat("[", 400) + `{"usage":{"prompt_tokens":3}}` + strings.Repeat("]", 400) + `,"model":"m","usage":{"prompt_tokens":1,"completion_tokens":2}}`},
		{name: "escaped keys", kind: jsonType, want: known("mé\u4f60", 1, 2, -1, -1, -1),
			body: `{"mod\u0065l":"m\u00e9\u4f60","us\u0061ge":{"\u0070rompt_tokens":1,"completion\u005ftokens":2,"total_tokens\n":4}}`},
		{name: "escaped keys in a stream", kind: streamType, want: known("m", 1, 2, -1, -1, -1),
			body: sse(`{"model":"m","us\u0061ge":{"\u0070rompt_tokens":1,"completion_tokens":2}}`)},
		{name: "twice", kind: jsonType, want: known("m", 1, 2, -1, -1, -1),
			body: `{"usage":{"prompt_tokens":9,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":3}},"model":"m","usage":{"prompt_tokens":7,"prompt_tokens":1,"completion_tokens":2}}`},
		{name: "wrong types", kind: jsonType, want: absent(""), body: `{"model":{"usage":{"prompt_tokens":1}},"usage":[{"prompt_tokens":1}],"usageMetadata":"x","meta":7}`},
		{name: "negative", kind: jsonType, want: unreadable, body: `{"usage":{"prompt_tokens":-1,"completion_tokens":2}}`},
		{name: "a fraction", kind: jsonType, want: unreadable, body: `{"usage":{"prompt_tokens":1.5}}`},
		{name: "too many", kind: jsonType, want: unreadable, body: `{"usage":{"prompt_tokens":4294967296,"completion_tokens":2}}`},
		{name: "too many together", kind: jsonType, want: unreadable, body: `{"usage":{"input_tokens":4294967295,"cache_read_input_tokens":1}}`},
		{name: "too many digits", kind: jsonType, want: unreadable, body: `{"usage":{"prompt_tokens":` + strings.Repeat("1", 400) + `}}`},
		{name: "a text for a number", kind: jsonType, want: unreadable, body: `{"usage":{"prompt_tokens":"12"}}`},
		{name: "more in the cache than read", kind: jsonType, want: known("", 15, 3, 10, -1, -1),
			body: `{"usage":{"prompt_tokens":5,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":10}}}`},
		{name: "no JSON", kind: jsonType, want: unreadable, body: `<html>"usage":{"prompt_tokens":1}</html>`},
		{name: "half a JSON", kind: jsonType, want: unreadable, body: `{"usage":{"prompt_tokens":1},"choices":[`},
		{name: "empty", kind: jsonType, want: absent(""), body: ""},
		{name: "a text", kind: jsonType, want: absent(""), body: ` "{\"usage\":{\"prompt_tokens\":1}}" `},
		{name: "a number", kind: jsonType, want: absent(""), body: `12`},
		{name: "not JSON by its type", kind: "text/plain", want: known("", 1, -1, -1, -1, -1), body: `{"usage":{"prompt_tokens":1}}`},
		{name: "a text that begins as JSON does", kind: "text/plain", want: absent(""), body: `[Music] {"usage":{"prompt_tokens":1}}`},
		{name: "a text that begins as an event does", kind: "text/plain", want: absent(""), body: `data is what "usage":{"prompt_tokens":1} is`},
		{name: "a stream of something else", kind: streamType, want: absent(""), body: "data: usage\n\ndata: {\"usage\n\nevent: usage\ndata: [DONE]\n\n: usage\n\n"},
		{name: "an event that breaks off", kind: streamType, want: known("m", 3, -1, -1, -1, -1),
			body: "data: {\"model\":\"m\",\"a\":[\n\n" + sse(`{"model":"m","usage":{"prompt_tokens":3}}`)},
		{name: "a usage that breaks off", kind: streamType, want: said{state: Unreadable, model: "m"},
			body: sse(`{"model":"m","usage":{"prompt_tokens":3}}`, `{"usage":{"prompt_tokens":3,`)},
		{name: "usage in another event", kind: streamType, want: absent(""),
			body: typed(`{"type":"content_block_start","message":{"model":"x","usage":{"input_tokens":3}}}`, `{"type":"content-delta","delta":{"usage":{"tokens":{"input_tokens":3}}}}`,
				`{"type":"tool","response":{"usage":{"input_tokens":3}}}`)},
		{name: "a long event", kind: streamType, want: known("m", 4, 2, -1, -1, -1),
			body: sse(`{"model":"m","text":"`+long+`","usage":null}`, `{"usage":{"prompt_tokens":4,"completion_tokens":2,"text":"`+long+`"}}`)},
		{name: "type behind the usage", kind: streamType, want: begun(known("c", 3, -1, -1, -1, -1)),
			body: sse(`{"message":{"usage":{"input_tokens":3},"model":"c"},"type":"message_start"}`)},
		{name: "wrapped and its own", kind: streamType, want: known("", 1, -1, -1, -1, -1),
			body: sse(`{"type":"message_start","message":{"usage":{"input_tokens":3}},"usage":{"input_tokens":1}}`, `{"usage":{"input_tokens":1},"type":"message_start","message":{"usage":{"input_tokens":3}}}`)},
		{name: "a long model", kind: jsonType, want: absent(OtherModel), body: `{"model":"` + strings.Repeat("m", maxName+1) + `"}`},
		{name: "control characters in the model", kind: jsonType, want: absent("ab"), body: `{"model":" a\u0000\u202eb\n"}`},
	}
}
