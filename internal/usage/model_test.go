package usage

import (
	"strings"
	"testing"
)

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
