package meter

import (
	"strings"
	"testing"
)

func BenchmarkEvent(b *testing.B) {
	for name, event := range map[string]string{
		"OpenAI": `{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}`,
		"plain":  `{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026-01-01","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}`,
		"usage":  `{"id":"chatcmpl-9","object":"chat.completion.chunk","model":"gpt-5-2026-01-01","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}`,
	} {
		b.Run(name, func(b *testing.B) {
			var r Reader
			r.Begin(Head{ContentType: []byte(streamType)}, unlimited)
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
				r.Begin(Head{ContentType: []byte(streamType)}, unlimited)
				r.Write(p)
				r.End(true)
			}
		})
	}
}

func BenchmarkDocument(b *testing.B) {
	for _, a := range []sample{openAI()[0], embedding(b)} {
		b.Run(a.name, func(b *testing.B) {
			p := []byte(a.body)
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			var r Reader
			for b.Loop() {
				r.Begin(Head{ContentType: []byte(a.kind)}, unlimited)
				r.Write(p)
				r.End(true)
			}
		})
	}
}

func embedding(b *testing.B) sample {
	for _, a := range openAI() {
		if a.name == "embeddings" {
			return a
		}
	}
	b.Fatal("no such answer")
	return sample{}
}
