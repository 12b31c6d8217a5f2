package meter

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestWhatAPieceCostsGrowsWithItsLength: no event, and no text, may cost a look through the whole piece.
func TestWhatAPieceCostsGrowsWithItsLength(t *testing.T) {
	const size = 1 << 21
	last := sse(`{"usage":{"prompt_tokens":9,"completion_tokens":12}}`)
	for name, events := range map[string]string{
		"carriage return and line feed": "a\r\n\r\n", "carriage returns": "a\r\r", "texts and carriage returns": "data:1\r\r", "line feeds, no text": "a\n\n",
		"a null usage": "data:{\"usage\":null}\n\n", "a text with usage": "data:\"usage\"\n\n", "escapes": "data:\\u00\n\n", "models": "data:model\n\n", "backslashes": "data:\"\\\\\n\n",
		"an array that does not end": "data:{\"usage\":1,\"a\":[\n\n", "a text that does not end": "data:{\"usage\":1,\"a\":\"\n\n",
		"a text that ended before": "data:{\"a\":\"\"}\n\ndata:{\"a\":\"\n\n", "iterations": "data:{\"usage\":{\"iterations\":[{},{},{}]}}\n\n",
	} {
		began := time.Now()
		var r Reader
		r.Begin(Head{ContentType: []byte(streamType)}, unlimited)
		r.Write([]byte(strings.Repeat(events, size/len(events)) + last))
		got := saidIn(r.End(true))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if in, _ := got.five.Count(Input); in != 9 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, text := range map[string]string{"brackets": "[", "objects": `{"a":`, "quotes": `"\"`, "numbers": `[1,`, "members": `{"choices":[{},`, "parts": `{"usage":{"iterations":[{"type":"x"},`} {
		began := time.Now()
		body := []byte(`{"deep":` + strings.Repeat(text, size/len(text)))
		for _, step := range []int{len(body), 7} {
			var r Reader
			r.Begin(Head{ContentType: []byte(jsonType)}, unlimited)
			for rest := body; len(rest) > 0; {
				n := min(step, len(rest))
				r.Write(rest[:n])
				rest = rest[n:]
			}
			if got := r.End(true); got.State != Unreadable {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// TestAnAnswerHasBoundedLines: whatever it says of others, there are eight models and a hundred parts at most, and what is
// beyond is told to be another's.
func TestAnAnswerHasBoundedLines(t *testing.T) {
	var b bytes.Buffer
	for i := range 300 {
		b.WriteString(strings.Repeat(",", min(i, 1)) + `{"type":"advisor_message","model":"m` + strings.Repeat("x", i%20) + `","input_tokens":1,"output_tokens":1}`)
	}
	r := (&golden{}).read("", true, []byte(`{"type":"message","model":"m","usage":{"input_tokens":5,"output_tokens":5,"iterations":[`+b.String()+`]}}`))
	sum := r.Sum()
	if in, _ := sum.Count(Input); r.State != Reported || len(r.Lines) != maxLines || r.Lines[maxLines-1].Model != OtherModel || in != 5+maxParts {
		t.Errorf("%d lines, the last %+v, %d", len(r.Lines), r.Lines[len(r.Lines)-1], in)
	}
}

// TestNoPathIsDeeperThanAScanner can go.
func TestNoPathIsDeeperThanAScanner(t *testing.T) {
	var depth func(at int16) int
	depth = func(at int16) int {
		most := 0
		for _, to := range nodes[at].keys {
			most = max(most, depth(to))
		}
		if to := nodes[at].member; to != 0 {
			most = max(most, 1+depth(to))
		}
		return 1 + most
	}
	if n := depth(root); n >= maxDepth {
		t.Errorf("%d", n)
	}
	opens := 0
	for _, n := range nodes {
		if n.opens {
			opens++
		}
	}
	if opens > 63 {
		t.Errorf("%d objects have a bit", opens)
	}
}

// TestReportedCostIsADecimal: exact, within bounds, and no zero replaces it.
func TestReportedCostIsADecimal(t *testing.T) {
	for said, want := range map[string]string{
		`"cost":0.00014`: "0.00014 USD", `"cost":1.4e-05`: "0.000014 USD", `"cost":0`: "0 USD", `"cost":-1`: "", `"cost":1e12`: "", `"cost":1e999999`: "", `"cost":"1"`: "", `"cost":null`: "",
		`"cost":123456789.000000000001`: "123456789.000000000001 USD", `"cost":{"total_cost":0.5,"currency":"eur"}`: "0.5 EUR", `"cost":{"total_cost":0.5,"currency":"euros"}`: "0.5 USD",
		`"cost_in_usd_ticks":1`: "0.0000000001 USD", `"cost_in_usd_ticks":37756000`: "0.0037756 USD", `"cost":2,"cost_in_usd_ticks":1`: "2 USD", `"cost":100`: "100 USD",
	} {
		r := (&golden{}).read("", true, []byte(`{"usage":{"prompt_tokens":1,`+said+`}}`))
		if got := strings.TrimSpace(r.ReportedCost + " " + r.Currency); got != want || r.State != Reported {
			t.Errorf("%s: %q, want %q; %s", said, got, want, r.State)
		}
	}
	r := (&golden{}).read("", true, []byte(sse(`{"usage":{"prompt_tokens":1,"cost":0.5}}`, `{"usage":{"prompt_tokens":1,"cost":0}}`)))
	if r.ReportedCost != "0.5" {
		t.Errorf("%+v", r)
	}
}

// TestWhatIsNoFrameIsUnreadable: frames that are damaged, cut, or claim to be longer than any.
func TestWhatIsNoFrameIsUnreadable(t *testing.T) {
	good := string(frame("metadata", `{"usage":{"inputTokens":3,"outputTokens":2}}`))
	large := []byte(good)
	large[0] = 0x7f
	for name, c := range map[string]struct {
		body string
		want State
	}{
		"whole":             {good + good, Reported},
		"cut in the sum":    {good[:len(good)-1], Unreadable},
		"cut in the head":   {good + good[:5], Unreadable},
		"cut in the text":   {good[:len(good)-20], Unreadable},
		"no frame follows":  {good + strings.Repeat("x", 20), Unreadable},
		"too long":          {good + string(large), Unreadable},
		"too long at first": {string(large), Unreadable},
		"text":              {`{"usage":{"inputTokens":3}}`, Reported}, // the first bytes tell
	} {
		g := golden{head: Head{ContentType: []byte("application/vnd.amazon.eventstream")}}
		for cut := range len(c.body) {
			if got := g.read("", true, []byte(c.body[:cut]), []byte(c.body[cut:])); got.State != c.want {
				t.Errorf("%s, split at %d: %+v", name, cut, got)
				break
			}
		}
	}
	// A text that is wrapped twice is not looked into, and one that is no Base64 tells nothing.
	for _, payload := range []string{`{"bytes":"eyJieXRlcyI6ImV5SjFjMkZuWlNJNmV5SndjbTl0Y0hSZmRHOXJaVzV6SWpvMWZYMD0ifQ=="}`, `{"bytes":"!!!!"}`} {
		if got := (&golden{}).read("", true, frame("chunk", payload)); got.State != Absent {
			t.Errorf("%s: %+v", payload, got)
		}
	}
}

// TestAnAnswerOfBeforeIsRepeated: the path names it, in whatever way it is written, or cancels what it is of.
func TestAnAnswerOfBeforeIsRepeated(t *testing.T) {
	for path, want := range map[string]State{
		"/v1/responses": Reported, "/v1/responses/resp_1": Repeated, "/v1/responses/resp_1/": Repeated, "/v1/responses/resp%5f1/input": Repeated, "/v1/responses/resp_12": Reported,
		"/v1/responses/resp_2/cancel": Repeated, "/v1beta/operations/a:cancel": Repeated, "/v1/cancel/x": Reported, "": Reported, "/v1/%zz/resp_1": Repeated,
	} {
		for _, body := range []string{
			`{"id":"resp_1","usage":{"input_tokens":3,"output_tokens":2,"cost":1}}`,
			sse(`{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":3,"output_tokens":2,"cost":1}}}`),
		} {
			g := golden{head: Head{Path: []byte(path)}}
			got := g.read("", true, []byte(body))
			if sum := got.Sum(); got.State != want || (want == Repeated) != sum.IsZero() || (want == Repeated) != (got.ReportedCost == "") {
				t.Errorf("%s: %+v", path, got)
			}
		}
	}
}

// TestTheFirstBytesTellTheFormat, whatever stands before them, in whatever pieces they come.
func TestTheFirstBytesTellTheFormat(t *testing.T) {
	const text = `{"usage":{"prompt_tokens":9}}`
	for _, kind := range []string{"", "text/plain", "text/html", "application/json", "text/event-stream", "application/octet-stream", "audio/mpeg", "application/vnd.amazon.eventstream"} {
		for body, want := range map[string]State{
			text: Reported, "\n\n  \t" + text: Reported, "\xef\xbb\xbf" + text: Reported, "\xef\xbb\xbf \r\n" + text: Reported, "[" + text + "]": Reported, text + "\n" + text + "\n": Reported, "\x1e" + text + "\n": Reported,
			"data:" + text + "\n\n": Reported, "\n\ndata: " + text: Reported, "event: x\ndata: " + text + "\n\n": Reported, "id: 1\ndata: " + text + "\n\n": Reported, ": x\r\n\r\ndata: " + text: Reported,
			"retry: 1\rdata: " + text + "\r\r": Reported, "\xef\xbb\xbfdata: " + text: Reported, string(frame("metadata", text)): Reported, "": Absent,
		} {
			g := golden{head: Head{ContentType: []byte(kind)}}
			for cut := range len(body) + 1 {
				if got := g.read("", true, []byte(body[:cut]), []byte(body[cut:])); got.State != want {
					t.Fatalf("%q as %q, split at %d: %+v", body, kind, cut, got)
				}
			}
		}
	}
	for body, kinds := range map[string][2][]string{ // absent as, unreadable as
		"ID3\x04":                                {{"", "audio/mpeg", "text/event-stream"}, {"application/json", "application/vnd.amazon.eventstream"}},
		"<html>" + text:                          {{"", "text/html", "text/event-stream"}, {"application/json"}},
		"\x00\x00\x00\x20ftypisom\x00\x00":       {{"", "video/mp4"}, {"application/json", "application/vnd.amazon.eventstream"}},
		"dat":                                    {{"", "text/plain", "text/event-stream"}, {"application/json"}},
		"\xef\xbb\xbf" + strings.Repeat(" ", 40): {{"", "text/plain", "application/json", "text/event-stream"}, nil},
	} {
		for i, want := range []State{Absent, Unreadable} {
			for _, kind := range kinds[i] {
				g := golden{head: Head{ContentType: []byte(kind)}}
				for cut := range len(body) + 1 {
					if got := g.read("", true, []byte(body[:cut]), []byte(body[cut:])); got.State != want {
						t.Errorf("%q as %q, split at %d: %+v, want %s", body, kind, cut, got, want)
						break
					}
				}
			}
		}
	}
}
