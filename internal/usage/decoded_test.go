package usage

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unsafe"
)

// decoded reads an answer of one JSON object the plain way, with all of it in memory.
func decoded(body []byte) (r Report, valid bool) {
	var all map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&all) != nil || decoder.More() || bytes.Count(body, []byte("odel")) > 1 {
		return r, false
	}
	for _, key := range []string{"usage", "prompt_tokens", "tokens", "billed_units", "meta", "details", "input_tokens"} {
		if bytes.Count(bytes.ToLower(body), []byte(key)) > 1 || bytes.Contains(body, []byte(`\u`)) { // the decoder is lax about keys
			return r, false
		}
	}
	for _, named := range []any{all["model"], all["modelVersion"]} {
		if text, is := named.(string); is && len(text) <= maxName {
			r.Model = printable(text)
		} else if named != nil {
			return r, false
		}
	}
	usage, noUsage := object(all["usage"])
	gemini, noGemini := object(all["usageMetadata"])
	var n numbers
	take := func(from map[string]any, key string, p place) {
		if v, is := from[key].(json.Number); is {
			whole, err := v.Int64()
			valid = err == nil && whole >= 0 && whole <= maxTokens
			n.set(p, uint32(whole))
		}
	}
	take(usage, "prompt_tokens", promptTokens)
	take(usage, "completion_tokens", completionTokens)
	take(usage, "output_tokens", outputTokens)
	take(gemini, "promptTokenCount", geminiPrompt)
	take(gemini, "candidatesTokenCount", geminiCandidates)
	if !valid || noUsage || noGemini || len(usage) > 2 || len(gemini) > 2 || all["meta"] != nil || !n.report(&r) {
		return r, false
	}
	if r.State = Reported; r.Known == 0 {
		r.State = Absent
	}
	return r, true
}

// object is a value that is an object or null; other tells that it is neither.
func object(v any) (of map[string]any, other bool) {
	of, is := v.(map[string]any)
	return of, v != nil && !is
}

func TestTheMemoryOfAReaderIsBounded(t *testing.T) {
	var r Reader
	if size := unsafe.Sizeof(r); size > 1024 {
		t.Errorf("a reader takes %d bytes", size)
	}
	r.Begin([]byte(streamType), nil, unlimited)
	event := []byte(named(`{"type":"content_block_delta","delta":{"text":"Hello there"}}`))
	if n := testing.AllocsPerRun(100, func() { r.Write(event) }); n > 0 {
		t.Errorf("%v allocations for an event", n)
	}
}

// What an upstream claims of its compression costs no more than the budget gives.
func TestADecoderAsksForItsMemoryAndGivesItBack(t *testing.T) {
	a := openAI()[0]
	for _, e := range encodings {
		for _, limit := range []int64{0, 16 << 20} {
			var held, most int64
			budget := func(n int64) bool {
				if held+n > limit {
					return false
				}
				held += n
				most = max(most, held)
				return true
			}
			var r Reader
			r.Begin([]byte(a.kind), []byte(e.name), budget)
			r.Write(encode(t, e.writer, a.body, false))
			if got := r.End(true); limit > 0 && got != a.want || limit == 0 && got.State != Unreadable {
				t.Errorf("%s with %d bytes: %+v", e.name, limit, got)
			}
			if held != 0 || limit > 0 && most == 0 {
				t.Errorf("%s: %d bytes are held, %d at most", e.name, held, most)
			}
		}
	}
}

func TestACompressedAnswerThatGrowsWithoutBoundIsUnreadable(t *testing.T) {
	body := `{"usage":{"prompt_tokens":1},"a":"` + string(bytes.Repeat([]byte("a"), 64<<20)) + `"}`
	for _, e := range encodings {
		encoded := encode(t, e.writer, body, false)
		if got := readEncoded(answer{kind: jsonType}, e.name, true, encoded); got.State != Unreadable {
			t.Errorf("%s: %d bytes became %d: %+v", e.name, len(encoded), len(body), got)
		}
	}
}

func TestATruncatedOrDamagedAnswerIsUnreadableOrSaysNoMore(t *testing.T) {
	a := openAI()[0]
	for _, e := range encodings {
		body := encode(t, e.writer, a.body, false)
		for cut := 1; cut < len(body); cut += 3 {
			if got := readEncoded(a, e.name, true, body[:cut]); got != a.want && got.State != Unreadable {
				t.Errorf("%s cut at %d: %+v", e.name, cut, got)
			}
			damaged := bytes.Clone(body)
			damaged[cut] ^= 0x55
			readEncoded(a, e.name, true, damaged) // whatever it says, it ends
		}
	}
	if got := readEncoded(a, "compress", true, []byte(a.body)); got.State != Unreadable {
		t.Errorf("an unknown encoding: %+v", got)
	}
}

func BenchmarkEvent(b *testing.B) {
	for name, event := range map[string]string{
		"OpenAI": `{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}`,
		"plain":  `{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}`,
		"usage":  `{"id":"chatcmpl-9","object":"chat.completion.chunk","model":"gpt-5-2026-01-01","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}`,
	} {
		b.Run(name, func(b *testing.B) {
			var r Reader
			r.Begin([]byte(streamType), nil, unlimited)
			p := []byte(sse(event))
			r.Write(p)
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				r.Write(p)
			}
		})
	}
}

func BenchmarkBurst(b *testing.B) {
	const begins = `{"id":"chatcmpl-9ab3kLmN0pQrStUv","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01",`
	const used = `"usage":{"prompt_tokens":1234,"completion_tokens":56,"total_tokens":1290}}`
	for name, events := range map[string][2]string{
		"long":   {`{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("token ", 20) + `"}}]}`, `{"choices":[],` + used},
		"OpenAI": {begins + `"choices":[{"index":0,"delta":{"content":" number"},"finish_reason":null}],"usage":null}`, begins + `"choices":[],` + used},
	} {
		b.Run(name, func(b *testing.B) {
			p := []byte(strings.Repeat(sse(events[0]), 19) + sse(events[1]))
			b.SetBytes(int64(len(p)))
			var r Reader
			for b.Loop() {
				r.Begin([]byte(streamType), nil, unlimited)
				r.Write(p)
				r.End(true)
			}
		})
	}
}

func BenchmarkDocument(b *testing.B) {
	for _, a := range []answer{openAI()[0], embedding(b)} {
		b.Run(a.name, func(b *testing.B) {
			p := []byte(a.body)
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			var r Reader
			for b.Loop() {
				r.Begin([]byte(a.kind), nil, unlimited)
				r.Write(p)
				r.End(true)
			}
		})
	}
}

func embedding(b *testing.B) answer {
	for _, a := range openAI() {
		if a.name == "embeddings" {
			return a
		}
	}
	b.Fatal("no such answer")
	return answer{}
}
