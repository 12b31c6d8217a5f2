package usage

import (
	"strings"
	"testing"
)

// FuzzAPlainEventIsReadAsAnyOther: whatever an event says, the fast path takes of it what the scanner would.
func FuzzAPlainEventIsReadAsAnyOther(f *testing.F) {
	const first = `data: {"id":"c","created":1,"model":"m","choices":[]}` + eventBreak
	for _, a := range answers() {
		if a.kind == streamType {
			events := strings.SplitAfter(a.body, eventBreak)
			for _, event := range events {
				f.Add([]byte(events[0]), []byte(event))
			}
		}
	}
	for _, object := range []string{
		`{"id":"c","created":1,"model":"m","usage":{"prompt_tokens":1}}`, `{"id":"c","created":1,"model":"mm","usage":{"prompt_tokens":1}}`, `{"id":"c","created":1,"model":"m"}`,
		`{"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`, `{"usage":{"prompt_tokens":1,"completion_tokens":2.0}}`, `{ "usage": { "prompt_tokens": 1, "completion_tokens": 2 }}`,
		`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"id":"c"}`, `{"choices":[],"usage":{}}`, `{"choices":[],"usage":{"prompt_tokens":1},"usage":{"prompt_tokens":2}}`, `{"id":"c","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1}}`, `{"choices":[],"usage":{"prompt_tokens":x}}`,
		`{"usage":{},"usage":{"prompt_tokens":1}}`, `{"usage":null,"usage":{"prompt_tokens":1}}`, `{"usage":{"prompt_tokens":1},"usage":null}`, `{"usage":{"prompt_tokens":1},"usageMetadata":{"promptTokenCount":2}}`,
		`{"usage":{"prompt_tokens":1,"prompt_tokens":2}}`, `{"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":1,"x":{"cached_tokens":2}},"completion_tokens_details":null}}`,
		`{"usage":{"tokens":{"input_tokens":1},"billed_units":{"output_tokens":2},"cost":-1.5e-9}}`, `{"usage":{"prompt_tokens":1},"model":"m2"}`, `{"model":"","usage":{"prompt_tokens":1},"model":"m"}`,
		`{"type":"message_start","message":{"usage":{"input_tokens":5}},"usage":{"output_tokens":1}}`, `{"type":"message_delta","delta":{"usage":{"input_tokens":5}},"usage":{"output_tokens":1}}`,
		`{"choices":[{"a":"]"},{}],"usage":{"prompt_tokens":1}}`, `{"choices":[}{],"usage":{"prompt_tokens":1}}`, `{"choices":[1,` + "\n" + `2],"usage":{"prompt_tokens":1}}`, `{"choices":["a\"]"],"usage":{"prompt_tokens":1}}`,
		`{"usage":{"prompt_tokens":"1"}}`, `{"usage":{"prompt_tokens":1}}}`, `{"usage":{"prompt_tokens":1}`, `{"usage":{"prompt_tokens":1},"a":+1}`, `{"usage":{"prompt_tokens":1},"a":nil,"b":0x}`, `{"usage":{"prompt_tokens":99999999999}}`,
		`{"usage":{"prompt_tokens":1},"model":"` + strings.Repeat("m", maxName+1) + `"}`, `{"` + strings.Repeat("k", maxName+1) + `":1,"usage":{"prompt_tokens":1}}`,
	} {
		f.Add([]byte(first), []byte("data: "+object+eventBreak))
		f.Add([]byte(`data: {"a":1}`+eventBreak), []byte("data:"+object+eventBreak))
	}
	f.Fuzz(func(t *testing.T, first, event []byte) {
		var short, long scanner
		short.events, long.events = true, true
		short.readModel(first)
		long.model = short.model
		n := short.readPlain(event)
		if n == 0 {
			return
		}
		e := events{started: true}
		for p := event[:n]; len(p) > 0; {
			p = e.part(p, &long)
		}
		if short.whole != long.whole || string(short.model.bytes()) != string(long.model.bytes()) || short.unreadable != long.unreadable ||
			short.of != long.of || short.step != long.step || short.depth != long.depth || e != (events{started: true}) {
			t.Fatalf("%+v, the scanner %+v, events %+v", short, long, e)
		}
	})
}

// FuzzAModelReadByItselfIsTheOneOfTheWholeEvent: whatever an event begins with, the short way to its model finds what the long one does.
func FuzzAModelReadByItselfIsTheOneOfTheWholeEvent(f *testing.F) {
	for _, a := range answers() {
		if a.kind == streamType {
			f.Add([]byte(a.body))
		}
	}
	for _, event := range []string{
		`data: {"model":"m"}`, `data:{"a":1,"b":null, "c": "x", "modelVersion": "g","model":"m"}`, `data: {"model":"","model":"m"}`, `data: {"a":"\"model","model":"m"}`,
		`data: {"a":{"model":"n"},"model":"m"}`, `data: {"model":1,"model":"m"`, "data: {\"a\":\"\nmodel\",\"model\":\"m\"}", `data: {x"a":1,"model":"m"}`, `data: {"a":01,"model":"m"}`,
		`data: {"a":1e5,"model":"m"}`, `data: {"a":nulls,"model":"m"}`, `data: {"a":,"model":"m"}`, `data: {"a":x,"model":"m"}`, `data: {{"model":"m"}`, `data: ,"a":1,"model":"m"}`, `data: {"type":"message_start","model":"m"}`, `data: {"message":"x","model":"m"}`,
		`data: {"model":"` + strings.Repeat("m", maxName) + `"}`, `data: {"model":"` + strings.Repeat("m", maxName+1) + `"}`,
	} {
		f.Add([]byte(event + "\n\n"))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		var short, long scanner
		short.events, long.events = true, true
		if !short.readModel(event) {
			return
		}
		e := events{started: true}
		for p := event; len(p) > 0 && long.model.n == 0; {
			p = e.part(p, &long)
		}
		if got, want := string(short.model.bytes()), string(long.model.bytes()); got != want || long.of != nowhere {
			t.Fatalf("%q, the whole event %q", got, want)
		}
	})
}
