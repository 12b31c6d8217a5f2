package gateway

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/calls"
)

// untoldAnswers are the upstream's, by the path that is called.
func untoldAnswers(t *testing.T) script {
	body := func(n int) string { return `{"model":"m","text":"` + strings.Repeat("four", n) + `"}` }
	stream := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	hold := func(conn net.Conn) bool {
		_, _ = conn.Read(make([]byte, 1)) // until the gateway closes
		return false
	}
	return func(conn net.Conn, a asked) bool {
		path, _, _ := strings.Cut(strings.Fields(a.line)[1], "?")
		text := ""
		switch path {
		case "/told":
			text = jsonAnswer("200 OK", "", `{"usage":{"prompt_tokens":400,"completion_tokens":400}}`)
		case "/left":
			_, _ = io.WriteString(conn, stream+chunks(`data: {"choices":[{"delta":{"content":"all of it"},"finish_reason":"stop"}]}`+"\n\n", 1000))
			return hold(conn)
		case "/told-in-part":
			_, _ = io.WriteString(conn, stream+chunks(`data: {"type":"message_start","message":{"usage":{"input_tokens":500,"output_tokens":1}}}`+"\n\n"+
				strings.Repeat(`data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"word"}}`+"\n\n", 600)+"data: {}\n\n", 1<<20))
			return hold(conn)
		case "/cut":
			_, _ = io.WriteString(conn, stream+chunks("data: {}\n\n", 100))
			return false
		case "/slow":
			return hold(conn)
		case "/silent", "/v1/moderations", "/v1/embeddings", "/v1/x;/moderations":
			text = jsonAnswer("200 OK", "", body(2000))
		case "/unreadable":
			text = jsonAnswer("200 OK", "Content-Encoding: x\r\n", strings.Repeat("x", 2000))
		case "/packed":
			text = jsonAnswer("200 OK", "Content-Encoding: gzip\r\n", gzipped(t, body(130_000)))
		case "/deferred":
			text = jsonAnswer("200 OK", "", `{"model":"m","status":"queued","background":true}`)
		case "/v1/responses/r/cancel":
			text = jsonAnswer("200 OK", "", `{"model":"m","usage":{"input_tokens":4000,"output_tokens":4000}}`)
		case "/refused":
			text = jsonAnswer("429 Too Many Requests", "", body(2000))
		case "/broken":
			text = jsonAnswer("500 Internal Server Error", "", body(2000))
		case "/closed":
			return false
		}
		_, _ = io.WriteString(conn, text)
		return true
	}
}

// TestWhatAnAnswerDoesNotTellIsEstimatedAndKeptOnTheCall: the average of 800, or what was seen where that is more, beyond
// what was told. What was refused, or asks for nothing, is not.
func TestWhatAnAnswerDoesNotTellIsEstimatedAndKeptOnTheCall(t *testing.T) {
	r := limitedRig(t, untoldAnswers(t), "tokens_per_day", "1000000000")
	for range 2 {
		r.ask(post("/gateway/told?model=m", goodKey, "{}"))
		if got := r.record(); got.Estimated != 0 || got.Usage.Input != 400 {
			t.Fatalf("%+v", got)
		}
	}
	for _, c := range []struct {
		path, method, body string
		leaves             string // once this was read; empty: not
		state              calls.UsageState
		least, most        uint32
	}{
		{path: "left", leaves: "finish_reason", state: calls.UsagePartial, least: 800, most: 800},
		{path: "told-in-part", leaves: "{}", state: calls.UsagePartial, least: 600, most: 604}, // of 500 and some 600; 501 are told
		{path: "cut", state: calls.UsagePartial, least: 800, most: 800},
		{path: "slow", leaves: "-", state: calls.UsageNone, least: 800, most: 800},
		{path: "silent", state: calls.UsageAbsent, least: 2000, most: 2010},
		{path: "silent", body: `{"text":"` + strings.Repeat("four", 1000) + `"}`, state: calls.UsageAbsent, least: 3000, most: 3010},
		{path: "silent", body: `{"picture":"` + strings.Repeat("x", 200_000) + `"}`, state: calls.UsageAbsent, least: 18_384, most: 18_400},
		{path: "unreadable", state: calls.UsageUnreadable, least: 2000, most: 2000},
		{path: "packed", state: calls.UsageUnreadable, least: 60_000, most: 131_072},
		{path: "v1/moderations", state: calls.UsageAbsent},
		{path: "v1/x;/moderations", state: calls.UsageAbsent, least: 2000, most: 2010}, // to some upstreams it is /v1/x
		{path: "v1/embeddings", state: calls.UsageAbsent, least: 800, most: 800},
		{path: "refused", state: calls.UsageNone},
		{path: "broken", state: calls.UsageNone},
		{path: "closed", state: calls.UsageNone},
		{path: "silent", method: "GET", state: calls.UsageNone},
		{path: "told", state: calls.UsageReported},
		{path: "deferred", state: calls.UsageDeferred, least: 800, most: 800},
		{path: "v1/responses/r/cancel", state: calls.UsageRepeated},
	} {
		request := post("/gateway/"+c.path+"?model=m", goodKey, c.body)
		if c.method != "" {
			request = strings.Replace(request, "POST", c.method, 1)
		}
		if c.leaves == "" {
			r.ask(request)
		} else {
			r.leaveAt(request, c.leaves)
		}
		got := r.record()
		if got.Usage.State != c.state || got.Estimated < c.least || got.Estimated > c.most {
			t.Errorf("%s %s: %s, %d estimated beyond %d; want %s, %d to %d", c.method, c.path, got.Usage.State, got.Estimated, got.Usage.Input+got.Usage.Output, c.state, c.least, c.most)
		}
	}
}

// leaveAt asks, and closes the connection once it has read a text; "-": once the upstream was asked.
func (r *rig) leaveAt(request, text string) {
	r.t.Helper()
	for len(r.asked) > 0 {
		<-r.asked
	}
	conn := r.dial()
	if _, err := io.WriteString(conn, request); err != nil {
		r.t.Fatal(err)
	}
	<-r.asked
	var got []byte
	for text != "-" && !bytes.Contains(got, []byte(text)) {
		piece := make([]byte, 64<<10)
		n, err := conn.Read(piece)
		if got = append(got, piece[:n]...); err != nil {
			r.t.Fatalf("%v after %q", err, got)
		}
	}
	_ = conn.Close()
}

// TestALimitOfTokensHoldsForCallersThatLeaveBeforeTheLastChunk: of a minute and of a day.
func TestALimitOfTokensHoldsForCallersThatLeaveBeforeTheLastChunk(t *testing.T) {
	for _, limit := range []string{"tokens_per_minute", "tokens_per_day"} {
		r := limitedRig(t, untoldAnswers(t), limit, "5000")
		for range 2 {
			r.ask(post("/gateway/told?model=m", goodKey, "{}"))
			r.record()
		}
		left := 0
		for range 20 {
			conn := r.dial()
			if _, err := io.WriteString(conn, post("/gateway/left?model=m", goodKey, "{}")); err != nil {
				t.Fatal(err)
			}
			var got []byte
			for !bytes.Contains(got, []byte("finish_reason")) && !bytes.Contains(got, []byte("429")) {
				piece := make([]byte, 4096)
				n, err := conn.Read(piece)
				if got = append(got, piece[:n]...); err != nil {
					t.Fatalf("%v after %q", err, got)
				}
			}
			_ = conn.SetDeadline(time.Now())
			_ = conn.Close()
			if r.record().StatusCode != 429 {
				left++
			}
		}
		if left > 6 { // fewer where Redis was slow to answer, and the gateway spent its share
			t.Errorf("%s: %d calls of 800 tokens were let through to 3,400", limit, left)
		}
	}
}
