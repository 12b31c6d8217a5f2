package demo

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strings"
)

// demoTime is the creation time in every answer: answers depend on the question alone.
const demoTime = 1_767_225_600 // 2026-01-01T00:00:00Z

var demoModels = []string{"demo-chat", "demo-embedding", "demo-slow", "demo-cut", "demo-error-429", "demo-error-500"}

type object = map[string]any

func listModels(w http.ResponseWriter, _ *http.Request) {
	models := make([]object, 0, len(demoModels))
	for _, name := range demoModels {
		models = append(models, object{"id": name, "object": "model", "created": demoTime, "owned_by": "callgate"})
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": models})
}

// chatCompletion answers in the shape of OpenAI's chat completions.
func chatCompletion(w http.ResponseWriter, r *http.Request, p prompt) {
	usage := object{
		"prompt_tokens": p.spent.input(), "completion_tokens": p.spent.output(), "total_tokens": p.spent.total(),
		"prompt_tokens_details":     object{"cached_tokens": p.spent.cached, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": p.spent.thought, "audio_tokens": 0},
	}
	shape := func(kind string, choices []any) object {
		return object{"id": "chatcmpl-demo", "object": kind, "created": demoTime, "model": p.model, "choices": choices}
	}
	if !p.stream {
		answer := shape("chat.completion", []any{object{
			"index": 0, "finish_reason": "stop", "logprobs": nil,
			"message": object{"role": "assistant", "content": p.text, "refusal": nil},
		}})
		answer["usage"] = usage
		answerJSON(w, p, answer)
		return
	}
	chunk := func(delta object, finish any) event {
		data := shape("chat.completion.chunk", []any{object{"index": 0, "delta": delta, "finish_reason": finish}})
		if p.usageAsked {
			data["usage"] = nil
		}
		return event{data: data}
	}
	events := []event{chunk(object{"role": "assistant", "content": ""}, nil)}
	for _, word := range strings.SplitAfter(p.text, " ") {
		events = append(events, chunk(object{"content": word}, nil))
	}
	events = append(events, chunk(object{}, "stop"))
	if p.usageAsked {
		final := shape("chat.completion.chunk", []any{})
		final["usage"] = usage
		events = append(events, event{data: final})
	}
	stream(w, r, p, append(events, event{raw: "[DONE]"}))
}

// response answers in the shape of OpenAI's responses.
func response(w http.ResponseWriter, r *http.Request, p prompt) {
	part := func(text string) object {
		return object{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	}
	item := func(status string, content ...any) object {
		return object{"type": "message", "id": "msg_demo", "status": status, "role": "assistant", "content": append([]any{}, content...)}
	}
	answer := func(status string, usage any, output ...any) object {
		return object{
			"id": "resp_demo", "object": "response", "created_at": demoTime, "status": status, "model": p.model, "output": append([]any{}, output...),
			"usage": usage, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": true,
			"temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1, "text": object{"format": object{"type": "text"}},
		}
	}
	whole := answer("completed", object{
		"input_tokens": p.spent.input(), "input_tokens_details": object{"cached_tokens": p.spent.cached},
		"output_tokens": p.spent.output(), "output_tokens_details": object{"reasoning_tokens": p.spent.thought},
		"total_tokens": p.spent.total(),
	}, item("completed", part(p.text)))
	if !p.stream {
		answerJSON(w, p, whole)
		return
	}
	var events []event
	add := func(kind string, fields object) {
		fields["sequence_number"] = len(events)
		events = append(events, typed(kind, fields))
	}
	within := func(fields object) object {
		fields["item_id"], fields["output_index"], fields["content_index"] = "msg_demo", 0, 0
		return fields
	}
	add("response.created", object{"response": answer("in_progress", nil)})
	add("response.in_progress", object{"response": answer("in_progress", nil)})
	add("response.output_item.added", object{"output_index": 0, "item": item("in_progress")})
	add("response.content_part.added", within(object{"part": part("")}))
	for _, word := range strings.SplitAfter(p.text, " ") {
		add("response.output_text.delta", within(object{"delta": word, "logprobs": []any{}}))
	}
	add("response.output_text.done", within(object{"text": p.text, "logprobs": []any{}}))
	add("response.content_part.done", within(object{"part": part(p.text)}))
	add("response.output_item.done", object{"output_index": 0, "item": item("completed", part(p.text))})
	add("response.completed", object{"response": whole})
	stream(w, r, p, events)
}

// embeddings answers one eight-dimensional vector per input, made of the input's length.
func embeddings(w http.ResponseWriter, _ *http.Request, p prompt) {
	data := make([]any, 0, len(p.inputs))
	for i, input := range p.inputs {
		vector := make([]float32, 8)
		for j := range vector {
			vector[j] = float32((len(input)*(j+1))%17) / 17
		}
		var embedding any = vector
		if p.packed {
			packed := make([]byte, 0, 4*len(vector))
			for _, number := range vector {
				packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(number))
			}
			embedding = base64.StdEncoding.EncodeToString(packed)
		}
		data = append(data, object{"object": "embedding", "index": i, "embedding": embedding})
	}
	answerJSON(w, p, object{
		"object": "list", "model": p.model, "data": data,
		"usage": object{"prompt_tokens": p.spent.input(), "total_tokens": p.spent.input()},
	})
}
