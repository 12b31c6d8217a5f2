package meter

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestWhatPassedIsMeasuredWhereAnAnswerIsText, whether or not it can be read to its end.
func TestWhatPassedIsMeasuredWhereAnAnswerIsText(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal("gzip")
		}
		return b.String()
	}
	chunkHead := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"`
	event := chunkHead + `word"},"finish_reason":null}]}` + "\n\n"
	dear := `{"choices":[{"message":{"content":"` + strings.Repeat("ha! ", 130_000) + `"}}],"usage":{"prompt_tokens":20,"completion_tokens":130000}}`
	for name, c := range map[string]struct {
		kind, encoding, body string
		least, most          int64
	}{
		"nothing":                     {"application/json", "", "", 0, 0},
		"a document":                  {"application/json", "", `{"text":"` + strings.Repeat("four", 1000) + `"}`, 1000, 1010},
		"a stream of words":           {"text/event-stream", "", strings.Repeat(event, 500), 500, 510},
		"a stream of one long event":  {"text/event-stream", "", chunkHead + strings.Repeat("four", 1000) + `"}}]}` + "\n\n", 900, 1010},
		"lines":                       {"application/x-ndjson", "", strings.Repeat(`{"message":{"content":"word"},"done":false}`+"\n", 100), 50, 50},
		"frames":                      {"application/vnd.amazon.eventstream", "", strings.Repeat(string(frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"word"},"p":"abcdefghijklm"}`)), 500), 500, 510},
		"events without a type":       {"", "", strings.Repeat(event, 500), 500, 510},
		"compressed":                  {"application/json", "gzip", packed(`{"text":"` + strings.Repeat("four", 1000) + `"}`), 1000, 1010},
		"compressed beyond a measure": {"application/json", "gzip", packed(dear), 64 << 10, 130_100},
		"compressed in no known way":  {"application/json", "x", strings.Repeat("x", 1000), 1000, 1000},
		"neither JSON nor events":     {"audio/mpeg", "", strings.Repeat("x", 1000), 0, 0},
		"no JSON at all":              {"application/json", "", strings.Repeat("x", 1000), 250, 250},
		"more than any answer":        {"application/json", "", strings.Repeat("four", 1<<20), maxPassed, maxPassed},
	} {
		for _, size := range []int{len(c.body) + 1, 100} {
			var r Reader
			r.Begin(Head{ContentType: []byte(c.kind), Encoding: []byte(c.encoding)}, unlimited)
			for rest := c.body; rest != ""; {
				n := min(size, len(rest))
				r.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			r.End(false)
			if got := r.Passed(); got < c.least || got > c.most {
				t.Errorf("%s, in pieces of %d: %d tokens, want %d to %d", name, size, got, c.least, c.most)
			}
			r.Begin(Head{ContentType: []byte("application/json")}, unlimited)
			if got := r.Passed(); got != 0 {
				t.Errorf("%s: the next answer begins with %d", name, got)
			}
			r.End(false)
		}
	}
}
