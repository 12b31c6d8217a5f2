package meter

import "strings"

// said is what a report says in the five numbers that every call has.
type said struct {
	state State
	model string
	five  Meters
}

func saidIn(r Report) said {
	s := said{state: r.State, model: r.Model()}
	sum := r.Sum()
	for m := Input; m <= Reasoning; m++ {
		if n, known := sum.Count(m); known {
			s.five.Set(m, n)
		}
	}
	return s
}

// known is what an answer says that says all of what follows; -1 is not said.
func known(model string, input, output, cached, cacheWrite, reasoning int64) said {
	s := said{state: Reported, model: model}
	for i, n := range []int64{input, output, cached, cacheWrite, reasoning} {
		if n >= 0 {
			s.five.Set(Meter(i), uint32(n))
		}
	}
	return s
}

// begun is what an answer told that ended before the last of it.
func begun(s said) said {
	s.state = Partial
	return s
}

func absent(model string) said { return said{state: Absent, model: model} }

const (
	jsonType   = "application/json; charset=utf-8"
	streamType = "text/event-stream"
)

// sse makes a stream of unnamed events.
func sse(data ...string) string {
	var b strings.Builder
	for _, one := range data {
		b.WriteString("data: " + one + "\n\n")
	}
	return b.String()
}

// typed makes a stream of events with the name that their type tells.
func typed(data ...string) string {
	var b strings.Builder
	for _, one := range data {
		_, kind, _ := strings.Cut(one, `"type":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		b.WriteString("event: " + kind + "\ndata: " + one + "\n\n")
	}
	return b.String()
}

func answers() (all []sample) {
	for _, of := range [][]sample{openAI(), anthropic(), gemini(), cohere(), hostile()} {
		all = append(all, of...)
	}
	return all
}

func openAI() []sample {
	chunk := func(delta, usage string) string {
		return `{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01","choices":[{"index":0,"delta":` +
			delta + `,"finish_reason":null}]` + usage + `}`
	}
	return []sample{
		{name: "chat", kind: jsonType, want: known("gpt-5-2026-01-01", 19, 10, 4, -1, 3), body: `{
  "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
  "object": "chat.completion",
  "model": "gpt-5-2026-01-01",
  "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello! How can I assist you today?", "refusal": null, "annotations": []},
    "logprobs": null, "finish_reason": "stop"}],
  "usage": {
    "prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 3, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
  },
  "service_tier": "default"
}
`},
		{name: "chat without usage", kind: jsonType, want: absent("m"), body: `{"object":"chat.completion","model":"m","choices":[]}`},
		{name: "chat with usage null", kind: jsonType, want: absent("m"), body: `{"model":"m","choices":[],"usage":null}`},
		{name: "chat stream with include_usage", kind: streamType, want: known("gpt-5-2026-01-01", 9, 12, 0, -1, 0),
			body: sse(chunk(`{"role":"assistant","content":""}`, `,"usage":null`), chunk(`{"content":"Hel"}`, `,"usage": null`), chunk(`{"content":"lo"}`, `,"usage":null`),
				`{"id":"chatcmpl-9","object":"chat.completion.chunk","model":"gpt-5-2026-01-01","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,`+
					`"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`, "[DONE]")},
		{name: "chat stream without usage", kind: streamType, want: absent("gpt-5-2026-01-01"),
			body: sse(chunk(`{"role":"assistant"}`, ""), chunk(`{"content":"usage"}`, ""), "[DONE]")},
		{name: "cumulative usage in every chunk", kind: streamType, want: known("gpt-5-2026-01-01", 9, 3, -1, -1, -1),
			body: sse(chunk(`{}`, `,"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}`), chunk(`{}`, `,"usage":{"prompt_tokens":9,"completion_tokens":2}`),
				chunk(`{}`, `,"usage":{"prompt_tokens":9,"completion_tokens":3}`), "[DONE]")},
		{name: "carriage returns", kind: "text/event-stream; charset=utf-8", want: known("gpt-5-2026-01-01", 9, 3, -1, -1, -1),
			body: strings.ReplaceAll(": ping\n\n"+sse(chunk(`{}`, ""), chunk(`{}`, `,"usage":{"prompt_tokens":9,"completion_tokens":3}`), "[DONE]"), "\n", "\r\n")},
		{name: "carriage returns alone", kind: streamType, want: known("gpt-5-2026-01-01", 9, 3, -1, -1, -1),
			body: strings.ReplaceAll(sse(chunk(`{}`, ""), chunk(`{}`, `,"usage":{"prompt_tokens":9,"completion_tokens":3}`), "[DONE]"), "\n", "\r")},
		{name: "mark, comments, no space, data in two lines, no last line feed", kind: streamType, want: known("m", 9, 3, -1, -1, -1),
			body: "\xef\xbb\xbf:ok\n\nid:1\ndata:{\"model\":\"m\",\ndata:\"usage\":{\"prompt_tokens\":9,\ndata:\"completion_tokens\":3}}\nretry:3\n\ndata\n\ndata: {\"model\":\"n\"}"},
		{name: "responses", kind: jsonType, want: known("gpt-5-mini", 328, 52, 128, -1, 40),
			body: `{"id":"resp_1","object":"response","status":"completed","error":null,"model":"gpt-5-mini","output":[{"type":"message","content":[{"type":"output_text","text":"{\"usage\":{\"input_tokens\":1}}"}]}],` +
				`"usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":128},"output_tokens":52,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":380},"user":null}`},
		{name: "responses stream", kind: streamType, want: known("gpt-5-mini", 37, 11, 0, -1, 0),
			body: typed(`{"type":"response.created","response":{"id":"resp_1","model":"gpt-5-mini","usage":null}}`,
				`{"type":"response.output_text.delta","item_id":"msg_1","delta":"Hi"}`,
				`{"type":"response.completed","response":{"id":"resp_1","model":"gpt-5-mini","output":[{"usage":{"input_tokens":5}}],`+
					`"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":0},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":48}}}`)},
		{name: "embeddings", kind: jsonType, want: known("text-embedding-3-small", 8, -1, -1, -1, -1),
			body: `{"object":"list","data":[{"object":"embedding","embedding":[0.0023064255,-0.009327292,` + strings.Repeat("-0.0028842222e-3, ", 60) + `1],"index":0}],` +
				`"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`},
		{name: "transcription", kind: jsonType, want: known("", 14, 45, -1, -1, -1),
			body: `{"text":"Imagine","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":14},"output_tokens":45,"total_tokens":59}}`},
		{name: "transcription by duration", kind: jsonType, want: known("", -1, -1, -1, -1, -1), body: `{"text":"Imagine","usage":{"type":"duration","seconds":12}}`},
		{name: "transcription stream", kind: streamType, want: known("", 14, 45, -1, -1, -1),
			body: sse(`{"type":"transcript.text.delta","delta":"I"}`, `{"type":"transcript.text.done","text":"I","usage":{"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59}}`)},
		{name: "DeepSeek", kind: jsonType, want: known("deepseek-chat", 100, 20, 64, -1, 5),
			body: `{"model":"deepseek-chat","usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36,"completion_tokens_details":{"reasoning_tokens":5}}}`},
		{name: "Qwen", kind: jsonType, want: known("qwen-max", 3019, 104, 2048, 700, -1),
			body: `{"choices":[],"object":"chat.completion","usage":{"prompt_tokens":3019,"completion_tokens":104,"total_tokens":3123,"prompt_tokens_details":{"cached_tokens":2048,"cache_creation_input_tokens":700}},"model":"qwen-max"}`},
		{name: "Moonshot", kind: jsonType, want: known("kimi", 30, 5, 10, -1, -1),
			body: `{"model":"kimi","usage":{"prompt_tokens":30,"completion_tokens":5,"cached_tokens":10}}`},
		{name: "reasoning beside completion", kind: jsonType, want: known("grok", 32, 109, 8, -1, 100),
			body: `{"model":"grok","usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":141,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":100}}}`},
		{name: "numbers as others write them", kind: jsonType, want: known("m", 12, 1200, -1, -1, -1),
			body: `{"model":"m","usage":{"prompt_tokens":12.0,"completion_tokens":1.2e3}}`},
	}
}

func anthropic() []sample {
	start := `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-sonnet-5","stop_reason":null,` +
		`"usage":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}`
	text := func(s string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}}`
	}
	return []sample{
		{name: "message", kind: "application/json", want: known("claude-sonnet-5", 2095+10+500, 503, 500, 10, -1),
			body: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"Hi! \"usage\": {\"input_tokens\": 7}"}],"stop_reason":"end_turn",` +
				`"usage":{"input_tokens":2095,"cache_creation_input_tokens":10,"cache_read_input_tokens":500,"output_tokens":503,"server_tool_use":{"web_search_requests":2,"input_tokens":9}}}`},
		{name: "message without cache", kind: "application/json", want: known("c", 10, 5, -1, -1, -1),
			body: `{"type":"message","model":"c","usage":{"output_tokens":5,"input_tokens":10,"cache_read_input_tokens":null}}`},
		{name: "message stream", kind: streamType, want: known("claude-sonnet-5", 1125, 15, 1000, 100, -1),
			body: typed(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`, text("Hello"), text(`\"usage\":{\"output_tokens\":9}`),
				`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}`, `{"type":"message_stop"}`)},
		{name: "message stream, cumulative", kind: streamType, want: known("claude-sonnet-5", 10682+100+1000, 510, 1000, 100, -1),
			body: typed(start, `{"type":"message_delta","delta":{},"usage":{"output_tokens":100}}`, text("usage"),
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10682,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":510,"server_tool_use":{"web_search_requests":1}}}`,
				`{"type":"message_stop"}`)},
		{name: "message stream that ends before its last usage", kind: streamType, want: begun(known("claude-sonnet-5", 1125, 1, 1000, 100, -1)),
			body: typed(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, text("Hello"))},
		{name: "message stream that ends without its last usage", kind: streamType, want: begun(known("claude-sonnet-5", 1125, 1, 1000, 100, -1)),
			body: typed(start, text("usage"), `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)},
		{name: "two messages in a stream, the second begun", kind: streamType, want: begun(known("claude-sonnet-5", 1125, 1, 1000, 100, -1)),
			body: typed(start, `{"type":"message_delta","delta":{},"usage":{"output_tokens":100}}`, start)},
		{name: "message stream whose last event is not plain", kind: streamType, want: known("claude-sonnet-5", 1125, 15, 1000, 100, -1),
			body: typed(start, text("a"), `{"type":"message_delta","delta":{"stop_sequence":"\\n"},"usage":{"output_tokens":15}}`)},
	}
}

func gemini() []sample {
	part := func(text, usage string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"` + text + `"}],"role":"model"},"index":0}],"usageMetadata":` + usage + `,"modelVersion":"gemini-3-flash","responseId":"r"}`
	}
	first := `{"promptTokenCount":8,"totalTokenCount":28,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}],"thoughtsTokenCount":20}`
	last := `{"promptTokenCount":8,"candidatesTokenCount":14,"totalTokenCount":60,"cachedContentTokenCount":4,"toolUsePromptTokenCount":6,"thoughtsTokenCount":32}`
	want := known("gemini-3-flash", 14, 46, 4, -1, 32)
	return []sample{
		{name: "generateContent", kind: "application/json; charset=UTF-8", body: part("usageMetadata", last), want: want},
		{name: "generateContent without candidates", kind: "application/json", body: part("", `{"promptTokenCount":8,"totalTokenCount":8}`), want: known("gemini-3-flash", 8, -1, -1, -1, -1)},
		{name: "streamGenerateContent", kind: streamType, body: strings.ReplaceAll(sse(part("a", first), part("b", first), part("c", last)), "\n", "\r\n"), want: want},
		{name: "streamGenerateContent, line feeds", kind: streamType, body: sse(part("a", first), part("b", last)), want: want},
		{name: "streamGenerateContent as an array", kind: "application/json", body: "[" + part("a", first) + "\n,\r\n" + part("b", last) + "\n]\n", want: want},
	}
}

func cohere() []sample {
	return []sample{
		{name: "chat v2", kind: "application/json", want: known("", 5, 417, -1, -1, -1),
			body: `{"id":"c","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"ok"}]},"usage":{"billed_units":{"input_tokens":5,"output_tokens":417},"tokens":{"input_tokens":71,"output_tokens":418}}}`},
		{name: "chat v2 stream", kind: streamType, want: known("", 3, 45, -1, -1, -1),
			body: typed(`{"type":"message-start","id":"c","delta":{"message":{"role":"assistant","content":[]}}}`, `{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"usage"}}}}`,
				`{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":3,"output_tokens":45},"tokens":{"input_tokens":17,"output_tokens":45}}}}`)},
		{name: "chat v1", kind: "application/json", want: known("", 3, 2, -1, -1, -1),
			body: `{"text":"ok","generation_id":"g","meta":{"api_version":{"version":"1"},"billed_units":{"input_tokens":3,"output_tokens":2},"tokens":{"input_tokens":4.0,"output_tokens":2}}}`},
		{name: "chat v1 stream", kind: "application/stream+json", want: known("", 4, 2, -1, -1, -1),
			body: `{"is_finished":false,"event_type":"text-generation","text":"a"}` + "\n" + `{"is_finished":true,"event_type":"stream-end","response":{"text":"a","meta":{"tokens":{"input_tokens":4,"output_tokens":2}}}}` + "\n"},
		{name: "embed", kind: "application/json", want: known("", 2, -1, -1, -1, -1),
			body: `{"id":"e","embeddings":{"float":[[0.016,-0.008,[1,2]]]},"texts":["hello"],"meta":{"api_version":{"version":"2"},"billed_units":{"input_tokens":2}}}`},
	}
}
