package embedded

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// demoTime is the creation time in every answer: answers depend on the question alone.
const demoTime = 1_767_225_600 // 2026-01-01T00:00:00Z

var demoModels = []string{"demo-chat", "demo-embedding", "demo-slow", "demo-cut", "demo-error-429", "demo-error-500"}

func listModels(w http.ResponseWriter, _ *http.Request) {
	models := make([]map[string]any, 0, len(demoModels))
	for _, name := range demoModels {
		models = append(models, map[string]any{"id": name, "object": "model", "created": demoTime, "owned_by": "callgate"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": models})
}

// tokens counts words: enough for a usage figure that can be checked.
func tokens(text string) int { return len(strings.Fields(text)) }

func (p prompt) inputTokens() int {
	count := tokens(string(p.Input))
	for _, m := range p.Messages {
		count += tokens(string(m.Content))
	}
	return count
}

// chatCompletion answers in OpenAI's shape.
func chatCompletion(w http.ResponseWriter, r *http.Request, p prompt) {
	usage := map[string]any{
		"prompt_tokens": p.inputTokens(), "completion_tokens": tokens(p.text), "total_tokens": p.inputTokens() + tokens(p.text),
	}
	object := func(kind string, choices []any) map[string]any {
		return map[string]any{"id": "chatcmpl-demo", "object": kind, "created": demoTime, "model": p.Model, "choices": choices}
	}
	if !p.Stream {
		answer := object("chat.completion", []any{map[string]any{
			"index": 0, "finish_reason": "stop", "logprobs": nil,
			"message": map[string]any{"role": "assistant", "content": p.text, "refusal": nil},
		}})
		answer["usage"] = usage
		answerJSON(w, p, answer)
		return
	}
	chunk := func(delta map[string]any, finish any) event {
		return event{data: object("chat.completion.chunk", []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}})}
	}
	events := []event{chunk(map[string]any{"role": "assistant", "content": ""}, nil)}
	for _, word := range strings.SplitAfter(p.text, " ") {
		events = append(events, chunk(map[string]any{"content": word}, nil))
	}
	last := chunk(map[string]any{}, "stop")
	events = append(events, last)
	final := object("chat.completion.chunk", []any{})
	final["usage"] = usage
	events = append(events, event{data: final}, event{raw: "[DONE]"})
	stream(w, r, p, events)
}

// anthropicMessage answers in Anthropic's shape.
func anthropicMessage(w http.ResponseWriter, r *http.Request, p prompt) {
	answer := func(content []any, stop any, output int) map[string]any {
		return map[string]any{
			"id": "msg_demo", "type": "message", "role": "assistant", "model": p.Model, "content": content,
			"stop_reason": stop, "stop_sequence": nil,
			"usage": map[string]any{"input_tokens": p.inputTokens(), "output_tokens": output},
		}
	}
	if !p.Stream {
		answerJSON(w, p, answer([]any{map[string]any{"type": "text", "text": p.text}}, "end_turn", tokens(p.text)))
		return
	}
	typed := func(kind string, fields map[string]any) event {
		fields["type"] = kind
		return event{name: kind, data: fields}
	}
	events := []event{
		typed("message_start", map[string]any{"message": answer([]any{}, nil, 0)}),
		typed("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}}),
	}
	for _, word := range strings.SplitAfter(p.text, " ") {
		events = append(events, typed("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": word}}))
	}
	events = append(events,
		typed("content_block_stop", map[string]any{"index": 0}),
		typed("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": tokens(p.text)},
		}),
		typed("message_stop", map[string]any{}))
	stream(w, r, p, events)
}

// embeddings answers one eight-dimensional vector per input, made of the input's length.
func embeddings(w http.ResponseWriter, _ *http.Request, p prompt) {
	var inputs []json.RawMessage
	if json.Unmarshal(p.Input, &inputs) != nil {
		inputs = []json.RawMessage{p.Input}
	}
	data := make([]any, 0, len(inputs))
	for i, input := range inputs {
		vector := make([]float64, 8)
		for j := range vector {
			vector[j] = float64((len(input)*(j+1))%17) / 17
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector})
	}
	answerJSON(w, p, map[string]any{
		"object": "list", "model": p.Model, "data": data,
		"usage": map[string]any{"prompt_tokens": p.inputTokens(), "total_tokens": p.inputTokens()},
	})
}

// event is one server-sent event.
type event struct {
	name string
	data any
	raw  string // instead of data
}

// stream sends events one by one, each flushed; a cut one breaks after half of them.
func stream(w http.ResponseWriter, r *http.Request, p prompt, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flush := http.NewResponseController(w).Flush
	for i, e := range events {
		if p.cut && i == len(events)/2 {
			breakOff(w)
		}
		if i > 0 && !wait(r.Context(), p.gap) {
			return
		}
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		text := []byte(e.raw)
		if e.raw == "" {
			encoded, err := json.Marshal(e.data)
			if err != nil {
				breakOff(w)
			}
			text = encoded
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || flush() != nil {
			return // the caller left
		}
	}
}
