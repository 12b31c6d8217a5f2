package traces

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"callgate/internal/calls"
)

// collector takes spans as an OTLP/HTTP receiver; answer may refuse a request first.
type collector struct {
	t      *testing.T
	spans  chan *trace.Span
	heads  chan http.Header
	answer func(w http.ResponseWriter, n int32) (refused bool)
	asked  atomic.Int32
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := c.asked.Add(1); c.answer != nil && c.answer(w, n) {
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/otlp/v1/traces" {
		c.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		c.t.Error(err)
		return
	}
	body, err := io.ReadAll(unpacked)
	var data trace.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &data)
	}
	if err != nil {
		c.t.Error(err)
	}
	c.heads <- r.Header
	for _, s := range data.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
		c.spans <- s
	}
}

func collecting(t *testing.T, answer func(http.ResponseWriter, int32) bool) (*collector, *url.URL) {
	c := &collector{t: t, spans: make(chan *trace.Span, 2*queueSpans), heads: make(chan http.Header, 1000), answer: answer}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	endpoint, err := url.Parse(server.URL + "/otlp")
	if err != nil {
		t.Fatal(err)
	}
	return c, endpoint
}

func tracing(t *testing.T, endpoint *url.URL) *Tracer {
	tracer := New(Config{Endpoint: endpoint, Headers: http.Header{"X-Token": {"secret"}}, Version: "1.2", Instance: "here",
		Logger: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()})
	t.Cleanup(func() { _ = tracer.Close(t.Context()) })
	return tracer
}

func record(start time.Time) *calls.Record {
	return &calls.Record{ApplicationID: uuid.New(), CallID: calls.NewCallID(start), Model: "gpt-5", Start: start, Duration: 1500 * time.Millisecond,
		StatusCode: 502, UpstreamCode: 503, FirstByte: 20 * time.Millisecond, EndedBy: calls.Complete, ReasonType: calls.UpstreamHTTPError,
		ReasonCode: calls.UpstreamStatus, RequestBytes: 10, ResponseBytes: 20}
}

func TestACallIsASpanOfItsCallersTrace(t *testing.T) {
	c, endpoint := collecting(t, nil)
	tracer := tracing(t, endpoint)
	start := time.Now()
	r := record(start)
	place := tracer.Begin([]byte(callers))
	tracer.End(place, r, "POST", []byte("/v1/chat/completions"))
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := <-c.spans
	if hex.EncodeToString(s.TraceId) != traceID || hex.EncodeToString(s.ParentSpanId) != spanID || string(s.SpanId) != string(place.Span[:]) ||
		s.Name != "chat gpt-5" || s.Kind != trace.Span_SPAN_KIND_SERVER || s.GetStatus().GetCode() != trace.Status_STATUS_CODE_ERROR ||
		s.StartTimeUnixNano != uint64(start.UnixNano()) || s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(r.Duration) {
		t.Errorf("%v", s)
	}
	got := map[string]any{}
	for _, a := range s.Attributes {
		switch v := a.Value.ProtoReflect(); {
		case a.Value.GetStringValue() != "":
			got[a.Key] = a.Value.GetStringValue()
		case v.IsValid():
			got[a.Key] = a.Value.GetIntValue()
		}
	}
	for key, want := range map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5", "error.type": "upstream_status",
		"http.response.status_code": int64(502), "callgate.upstream.status_code": int64(503), "callgate.first_byte_ms": int64(20),
		"callgate.call.id": r.CallID.String(), "callgate.application.id": r.ApplicationID.String(), "callgate.ended_by": "complete",
	} {
		if got[key] != want {
			t.Errorf("%s: %v, want %v", key, got[key], want)
		}
	}
	if head := <-c.heads; head.Get("X-Token") != "secret" || head.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%v", head)
	}
}

func TestWhatACollectorCannotTakeNowIsSentAgain(t *testing.T) {
	c, endpoint := collecting(t, func(w http.ResponseWriter, n int32) bool {
		if n <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return n <= 2
	})
	tracer := tracing(t, endpoint)
	tracer.End(tracer.Begin([]byte(callers)), record(time.Now()), "POST", nil)
	select {
	case s := <-c.spans:
		if s.Name != "call gpt-5" {
			t.Errorf("%v", s)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it was not sent again")
	}
}

// TestACollectorThatHangsCostsNeitherCallsNorMemory: End does not wait, the queue is bounded, what
// did not fit is counted, and the end of the process is not held up.
func TestACollectorThatHangsCostsNeitherCallsNorMemory(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	tracer := tracing(t, &url.URL{Scheme: "http", Host: silent.Addr().String()})
	const many = 3 * queueSpans
	r, place := record(time.Now()), tracer.Begin([]byte(callers))
	began := time.Now()
	for range many {
		tracer.End(place, r, "POST", []byte("/v1/messages"))
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d calls waited %v", many, took)
	}
	if dropped := testutil.ToFloat64(tracer.metrics.dropped); dropped < many-queueSpans-batchSpans-1 || dropped > many-queueSpans {
		t.Errorf("%v of %d dropped", dropped, many)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := tracer.Close(ctx); err == nil {
		t.Error("the hanging collector is said to have taken all")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the end took %v", took)
	}
}

func TestACollectorsRefusalIsNotRepeated(t *testing.T) {
	c, endpoint := collecting(t, func(w http.ResponseWriter, _ int32) bool {
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
	tracer := tracing(t, endpoint)
	tracer.End(tracer.Begin([]byte(callers)), record(time.Now()), "POST", nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed := testutil.ToFloat64(tracer.metrics.failed); failed != 1 || c.asked.Load() != 1 {
		t.Errorf("%v spans failed in %d requests", failed, c.asked.Load())
	}
}

func TestHeadersAreReadAsTheStandardWritesThem(t *testing.T) {
	h, err := ParseHeaders("authorization=Bearer%20a%2Cb, x-scope = one ,")
	if err != nil || h.Get("Authorization") != "Bearer a,b" || h.Get("X-Scope") != "one" || len(h) != 2 {
		t.Errorf("%v %v", h, err)
	}
	for _, bad := range []string{"x", "=x", "a b=c", "a=%0d%0aX: y", "a=%zz"} {
		if h, err := ParseHeaders(bad); err == nil {
			t.Errorf("%q is %v", bad, h)
		}
	}
}
