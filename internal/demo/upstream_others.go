package demo

import (
	"net/http"
	"strings"
)

// anthropicMessage answers in the shape of Anthropic's messages, whose input_tokens are those that no cache had.
func anthropicMessage(w http.ResponseWriter, r *http.Request, p prompt) {
	answer := func(content []any, stop any, output int) object {
		return object{
			"id": "msg_demo", "type": "message", "role": "assistant", "model": p.model, "content": content,
			"stop_reason": stop, "stop_sequence": nil,
			"usage": object{
				"input_tokens": p.spent.fresh, "cache_creation_input_tokens": p.spent.written, "cache_read_input_tokens": p.spent.cached,
				"output_tokens": output,
			},
		}
	}
	if !p.stream {
		answerJSON(w, p, answer([]any{object{"type": "text", "text": p.text}}, "end_turn", p.spent.said))
		return
	}
	events := []event{
		typed("message_start", object{"message": answer([]any{}, nil, 1)}),
		typed("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}}),
		typed("ping", object{}),
	}
	for _, word := range strings.SplitAfter(p.text, " ") {
		events = append(events, typed("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": word}}))
	}
	stream(w, r, p, append(events,
		typed("content_block_stop", object{"index": 0}),
		typed("message_delta", object{
			"delta": object{"stop_reason": "end_turn", "stop_sequence": nil},
			"usage": object{"output_tokens": p.spent.said}, // of the whole message
		}),
		typed("message_stop", object{})))
}

func listGoogleModels(w http.ResponseWriter, _ *http.Request) {
	models := make([]object, 0, len(demoModels))
	for _, name := range demoModels {
		models = append(models, object{"name": "models/" + name, "displayName": name, "supportedGenerationMethods": []string{"generateContent"}})
	}
	writeJSON(w, http.StatusOK, object{"models": models})
}

// generateContent answers in the shape of Google's, streamed as events (alt=sse) or as one array. Every piece of a
// stream tells the usage so far.
func generateContent(w http.ResponseWriter, r *http.Request, p prompt) {
	answer := func(text string, said int, finish any) object {
		usage := object{
			"promptTokenCount": p.spent.input(), "candidatesTokenCount": said, "totalTokenCount": p.spent.input() + said + p.spent.thought,
			"promptTokensDetails": []any{object{"modality": "TEXT", "tokenCount": p.spent.input()}},
		}
		if p.spent.cached > 0 {
			usage["cachedContentTokenCount"] = p.spent.cached
		}
		if p.spent.thought > 0 {
			usage["thoughtsTokenCount"] = p.spent.thought
		}
		candidate := object{"index": 0, "content": object{"role": "model", "parts": []any{object{"text": text}}}}
		if finish != nil {
			candidate["finishReason"] = finish
		}
		return object{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": p.model, "responseId": "demo"}
	}
	if !p.stream {
		answerJSON(w, p, answer(p.text, p.spent.said, "STOP"))
		return
	}
	words := strings.SplitAfter(p.text, " ")
	var pieces []any
	for i, word := range words {
		var finish any
		if i == len(words)-1 {
			finish = "STOP"
		}
		pieces = append(pieces, answer(word, i+1, finish))
	}
	if r.URL.Query().Get("alt") != "sse" {
		answerJSON(w, p, pieces)
		return
	}
	events := make([]event, 0, len(pieces))
	for _, piece := range pieces {
		events = append(events, event{data: piece})
	}
	stream(w, r, p, events)
}

// cohereChat answers in the shape of Cohere's chat, version 2.
func cohereChat(w http.ResponseWriter, r *http.Request, p prompt) {
	usage := object{
		"billed_units": object{"input_tokens": p.spent.input(), "output_tokens": p.spent.said},
		"tokens":       object{"input_tokens": p.spent.input(), "output_tokens": p.spent.said},
	}
	if !p.stream {
		answerJSON(w, p, object{
			"id": "demo", "finish_reason": "COMPLETE", "usage": usage,
			"message": object{"role": "assistant", "content": []any{object{"type": "text", "text": p.text}}},
		})
		return
	}
	text := func(part object) object { return object{"message": object{"content": part}} }
	events := []event{
		typed("message-start", object{"id": "demo", "delta": object{"message": object{"role": "assistant", "content": []any{}}}}),
		typed("content-start", object{"index": 0, "delta": text(object{"type": "text", "text": ""})}),
	}
	for _, word := range strings.SplitAfter(p.text, " ") {
		events = append(events, typed("content-delta", object{"index": 0, "delta": text(object{"text": word})}))
	}
	stream(w, r, p, append(events, typed("content-end", object{"index": 0}),
		typed("message-end", object{"delta": object{"finish_reason": "COMPLETE", "usage": usage}})))
}
