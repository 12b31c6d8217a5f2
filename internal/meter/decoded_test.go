package meter

import (
	"bytes"
	"encoding/json"
	"testing"
	"unsafe"
)

// decoded reads an answer of one JSON object the plain way, with all of it in memory.
func decoded(body []byte) (s said, valid bool) {
	var all map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&all) != nil || decoder.More() || bytes.Count(body, []byte("odel")) > 1 {
		return s, false
	}
	for _, key := range []string{"usage", "prompt_tokens", "tokens", "billed_units", "meta", "details", "input_tokens"} {
		if bytes.Count(bytes.ToLower(body), []byte(key)) > 1 || bytes.Contains(body, []byte(`\u`)) { // the decoder is lax about keys
			return s, false
		}
	}
	places := map[string]bool{"usage": true, "usageMetadata": true, "model": true, "modelVersion": true, "id": true, "choices": true, "type": true}
	for key := range all {
		if nodes[root].keys[key] != 0 && !places[key] {
			return s, false
		}
	}
	for _, named := range []any{all["model"], all["modelVersion"]} {
		if text, is := named.(string); is && len(text) <= maxName {
			s.model = printable([]byte(text))
		} else if named != nil {
			return s, false
		}
	}
	usage, noUsage := object(all["usage"])
	gemini, noGemini := object(all["usageMetadata"])
	takes := 0
	take := func(from map[string]any, key string, to Meter) {
		if v, is := from[key].(json.Number); is {
			whole, err := v.Int64()
			valid = err == nil && whole >= 0 && whole <= maxCount
			s.five.Set(to, uint32(whole))
			takes++
		}
	}
	take(usage, "prompt_tokens", Input)
	take(usage, "completion_tokens", Output)
	take(usage, "output_tokens", Output)
	take(gemini, "promptTokenCount", Input)
	take(gemini, "candidatesTokenCount", Output)
	if !valid || noUsage || noGemini || len(usage)+len(gemini) != takes {
		return s, false
	}
	s.state = Reported
	return s, true
}

// object is a value that is an object or null; other tells that it is neither.
func object(v any) (of map[string]any, other bool) {
	of, is := v.(map[string]any)
	return of, v != nil && !is
}

func TestTheMemoryOfAReaderIsBounded(t *testing.T) {
	var r Reader
	if size := unsafe.Sizeof(r); size > 2048 {
		t.Errorf("a reader takes %d bytes", size)
	}
	r.Begin(Head{ContentType: []byte(streamType)}, unlimited)
	event := []byte(typed(`{"type":"content_block_delta","delta":{"text":"Hello there"}}`))
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
			r.Begin(Head{ContentType: []byte(a.kind), Encoding: []byte(e.name)}, budget)
			r.Write(encode(t, e.writer, a.body, false))
			if got := saidIn(r.End(true)); limit > 0 && got != a.want || limit == 0 && got.state != Unreadable {
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
		if got := readEncoded(sample{kind: jsonType}, e.name, true, encoded); got.state != Unreadable {
			t.Errorf("%s: %d bytes became %d: %+v", e.name, len(encoded), len(body), got)
		}
	}
}

func TestATruncatedOrDamagedAnswerIsUnreadableOrSaysNoMore(t *testing.T) {
	a := openAI()[0]
	for _, e := range encodings {
		body := encode(t, e.writer, a.body, false)
		for cut := 1; cut < len(body); cut += 3 {
			if got := readEncoded(a, e.name, true, body[:cut]); got != a.want && got.state != Unreadable {
				t.Errorf("%s cut at %d: %+v", e.name, cut, got)
			}
			damaged := bytes.Clone(body)
			damaged[cut] ^= 0x55
			readEncoded(a, e.name, true, damaged) // whatever it says, it ends
		}
	}
	if got := readEncoded(a, "compress", true, []byte(a.body)); got.state != Unreadable {
		t.Errorf("an unknown encoding: %+v", got)
	}
}
