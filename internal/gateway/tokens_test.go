package gateway

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"callgate/internal/calls"
)

const reportedJSON = `{"model":"gpt-5","choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":1}"}}],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}`

var (
	storedJSON = `{"id":"chatcmpl-1",` + reportedJSON[1:]
	twoModels  = `{"model":"gpt-5","usage":{"input_tokens":9,"output_tokens":4},"tool_usage":{"image_gen":{"input_tokens":3,"output_tokens":100}}}`
)

var reported = calls.Usage{State: calls.UsageReported, Model: "gpt-5", Known: calls.UsageInput | calls.UsageOutput | calls.UsageCached, Input: 9, Output: 4, Cached: 2}

func jsonAnswer(status, headers, body string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n" + headers + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal("gzip")
	}
	return b.String()
}

// TestTheTokensAnAnswerReportsAreRecorded, of every kind of answer, and that what is relayed stays as it came.
func TestTheTokensAnAnswerReportsAreRecorded(t *testing.T) {
	packed := gzipped(t, reportedJSON)
	counted := func(c *Config) { c.TokenUsage = true }
	for name, c := range map[string]struct {
		answer, request string
		path            string // empty: /v1
		off             bool
		streamed        bool
		body            string
		want            calls.Usage
	}{
		"JSON":              {answer: jsonAnswer("200 OK", "", reportedJSON), body: reportedJSON, want: reported},
		"gzip":              {answer: jsonAnswer("200 OK", "Content-Encoding: gzip\r\n", packed), body: packed, want: reported},
		"an unknown coding": {answer: jsonAnswer("200 OK", "Content-Encoding: x\r\n", packed), body: packed, want: calls.Usage{State: calls.UsageUnreadable}},
		"chunked":           {answer: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(reportedJSON, 7) + "0\r\n\r\n", body: reportedJSON, want: reported},
		"nothing said":      {answer: jsonAnswer("200 OK", "", `{"model":"m"}`), body: `{"model":"m"}`, want: calls.Usage{State: calls.UsageAbsent, Model: "m"}},
		"an error":          {answer: jsonAnswer("400 Bad Request", "", reportedJSON), body: reportedJSON, want: calls.Usage{State: calls.UsageNone}},
		"fetched again":     {answer: jsonAnswer("200 OK", "", reportedJSON), request: "GET", body: reportedJSON, want: calls.Usage{State: calls.UsageNone}},
		"events without a type": {answer: "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(reportedJSON)+8) + "\r\n\r\ndata: " + reportedJSON + "\n\n",
			body: "data: " + reportedJSON + "\n\n", want: reported, streamed: true},
		"counts in the head": {answer: jsonAnswer("200 OK", "X-Amzn-Bedrock-Input-Token-Count: 9\r\nx-amzn-bedrock-output-token-count: 4\r\n", `{"outputs":[]}`), body: `{"outputs":[]}`,
			want: calls.Usage{State: calls.UsageReported, Known: calls.UsageInput | calls.UsageOutput, Input: 9, Output: 4}},
		"two models": {answer: jsonAnswer("200 OK", "", twoModels), body: twoModels,
			want: calls.Usage{State: calls.UsageReported, Model: "gpt-5", Known: calls.UsageInput | calls.UsageOutput, Input: 12, Output: 104}},
		"an answer of before": {answer: jsonAnswer("200 OK", "", storedJSON), path: "/v1/chat/completions/chatcmpl-1", body: storedJSON, want: calls.Usage{State: calls.UsageRepeated, Model: "gpt-5"}},
		"the same, made":      {answer: jsonAnswer("200 OK", "", storedJSON), path: "/v1/chat/completions", body: storedJSON, want: reported},
		"of a cancel":         {answer: jsonAnswer("200 OK", "", storedJSON), path: "/v1/responses/resp_1/cancel", body: storedJSON, want: calls.Usage{State: calls.UsageRepeated, Model: "gpt-5"}},
		"still to be made":    {answer: jsonAnswer("200 OK", "", `{"id":"r","model":"m","status":"queued","usage":null}`), body: `{"id":"r","model":"m","status":"queued","usage":null}`, want: calls.Usage{State: calls.UsageDeferred, Model: "m"}},
		"not collected":       {answer: jsonAnswer("200 OK", "", reportedJSON), off: true, body: reportedJSON, want: calls.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			change := counted
			if c.off {
				change = func(*Config) {}
			}
			r := newRig(t, answers(c.answer), change)
			request := post("/gateway"+cmp.Or(c.path, "/v1")+"?model=m", goodKey, "{}")
			if c.request != "" {
				request = fmt.Sprintf("%s /gateway/v1?model=m HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", c.request, goodKey)
			}
			body := string(r.ask(request).body)
			if body != c.body {
				t.Errorf("relayed %q", body)
			}
			if got := r.record(); got.Usage != c.want || got.Streamed != c.streamed {
				t.Errorf("%+v, streamed %v, want %+v", got.Usage, got.Streamed, c.want)
			}
		})
	}
}

// chunks makes chunks of n bytes.
func chunks(text string, n int) string {
	var b strings.Builder
	for len(text) > 0 {
		part := text[:min(n, len(text))]
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
		text = text[len(part):]
	}
	return b.String()
}

// TestAnInterruptedStreamRecordsWhatItSaidByThen, whichever event was the last.
func TestAnInterruptedStreamRecordsWhatItSaidByThen(t *testing.T) {
	events := []string{
		`{"type":"message_start","message":{"model":"c","usage":{"input_tokens":25,"cache_read_input_tokens":100,"output_tokens":1}}}`,
		`{"type":"content_block_delta","delta":{"text":"Hi"}}`,
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":15}}`,
		`{"type":"message_stop"}`,
	}
	known := calls.UsageInput | calls.UsageOutput | calls.UsageCached
	start := calls.Usage{State: calls.UsagePartial, Model: "c", Known: known, Input: 125, Cached: 100, Output: 1}
	last := start
	last.Output = 15
	for n, want := range []calls.Usage{{State: calls.UsagePartial}, start, start, last, last} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			r := newRig(t, func(conn net.Conn, _ asked) bool {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
				for _, event := range events[:n] {
					_, _ = io.WriteString(conn, chunks("data: "+event+"\n\n", 1000))
				}
				return false
			}, func(c *Config) { c.TokenUsage = true })
			r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			if got := r.record(); got.Usage != want || got.StatusCode != 499 {
				t.Errorf("status %d, %+v, want %+v", got.StatusCode, got.Usage, want)
			}
		})
	}
}
